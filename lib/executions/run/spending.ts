import type { Question } from '../../model/converse.ts';
import { estimatedInput } from '../../model/input-estimate.ts';
import { noProgress, type RunningExecution, type Spent } from '../../table/executions/execution-items.ts';

/**
 * The tokens of an execution as its worker knows them. Each call of a model adds its own as soon as it returns, so that
 * they are counted whatever happens to the worker's next write.
 */
export type Spending = {
  /** All tokens: the tokens that earlier workers stored, and the tokens of this worker's calls. */
  used: number;
  /** The part of `used` that is stored in the table. */
  stored: number;
  /** Whether a part of `used` is the estimated input of interrupted calls. */
  isEstimated: boolean;
};

/** Starts the spending of a worker that has leased an execution. */
export function startSpending({ progress = noProgress }: RunningExecution): Spending {
  return { used: progress.tokens, stored: progress.tokens, isEstimated: progress.estimated === true };
}

/** Adds the tokens of a call that has returned, or the estimated ones of a call that was interrupted. */
export function addSpent(spending: Spending, tokens: number, isEstimated = false): void {
  spending.used += tokens;
  spending.isEstimated ||= isEstimated;
}

/** Returns all tokens, in the form in which they are stored. */
export function totalOf({ used, isEstimated }: Spending): Spent {
  return { tokens: used, ...(isEstimated && { estimated: true }) };
}

/** How often an execution can be leased and not returned, without a finished step in between. Then it is `lost`. */
export const leasesAllowed = 2;

/**
 * Returns the number of workers of an execution that were lost during a call of a model, as far as its tokens do not have
 * these calls. A worker that finds its execution lost calls no model, so it is not counted when it is lost, too.
 */
export function uncountedLosses({ claims, progress }: RunningExecution): number {
  return Math.max(0, Math.min(claims - 1, leasesAllowed) - (progress?.lost ?? 0));
}

/**
 * Counts the interrupted calls of lost workers with their estimated input.
 *
 * @param interrupted the questions that each lost worker had asked
 */
export function addLosses(
  spending: Spending,
  execution: RunningExecution,
  interrupted: readonly Pick<Question, 'system' | 'user' | 'turns' | 'tools'>[],
): void {
  const losses = uncountedLosses(execution);
  if (losses === 0) return;
  const tokens = interrupted.reduce((sum, question) => sum + estimatedInput(question), 0);
  if (tokens > 0) addSpent(spending, losses * tokens, true);
  const { progress = noProgress } = execution;
  execution.progress = { ...progress, lost: (progress.lost ?? 0) + losses };
}
