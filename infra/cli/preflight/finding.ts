import { awsErrorMessage } from '../../aws/deployed/aws-errors.ts';

/** The result of a check before a deploy: a `problem` makes the deploy or the service fail, a `warning` may do so later. */
export type Finding = { state: 'ok' | 'warning' | 'problem'; what: string; todo?: string };

/** Returns findings as text: a line for each, and below it what to do. */
export function findingsText(findings: readonly Finding[]): string {
  return findings
    .flatMap(({ state, what, todo }) => [`${state.padEnd(8)} ${what}`, ...(todo ? [`${' '.repeat(9)}${todo}`] : [])])
    .join('\n');
}

/**
 * Returns the finding that a check could not read something.
 *
 * @param what the name of the thing
 * @param action the IAM action that the check needs
 */
export function unreadableFinding(what: string, error: unknown, action: string): Finding {
  return {
    state: 'warning',
    what: `${what} cannot be read: ${awsErrorMessage(error)}`,
    todo: `This check needs ${action}.`,
  };
}
