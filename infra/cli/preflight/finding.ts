import { wordsFor } from '../stack/aws-errors.ts';

/** What was found before a deploy: `problem` makes it fail or the service not work, `warning` may surprise later. */
export type Finding = { state: 'ok' | 'warning' | 'problem'; what: string; todo?: string };

/** Findings as they are printed, a line each, and below it what to do. */
export function shownFindings(findings: readonly Finding[]): string {
  return findings
    .flatMap(({ state, what, todo }) => [`${state.padEnd(8)} ${what}`, ...(todo ? [`${' '.repeat(9)}${todo}`] : [])])
    .join('\n');
}

/** Returns the finding that something could not be read, and the right that reading it needs. */
export function unread(what: string, error: unknown, action: string): Finding {
  return { state: 'warning', what: `${what} cannot be read: ${wordsFor(error)}`, todo: `This check needs ${action}.` };
}
