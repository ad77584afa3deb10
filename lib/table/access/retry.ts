import type { Table } from './client.ts';
import { unavailable } from './unavailable.ts';

/** How often a request is tried in all, and the greatest length of the first and of any later pause. */
export type RetryLimits = { tries: number; firstPauseMs: number; longestPauseMs: number };

/** The limits of one write or transaction. */
export const writeRetries: RetryLimits = { tries: 8, firstPauseMs: 25, longestPauseMs: 1_600 };

/** The limits of a decision that is made again after a conflict. */
export const conflictRetries: RetryLimits = { tries: 21, firstPauseMs: 25, longestPauseMs: 1_600 };

/** The limits of a batch whose entries DynamoDB leaves unprocessed. */
export const batchRetries: RetryLimits = { tries: 8, firstPauseMs: 50, longestPauseMs: 3_200 };

/**
 * Tries until a try succeeds. The pauses between tries have full jitter: a random length up to a bound that doubles.
 *
 * @param attempt one try; returns its result, or `undefined` for another try
 * @throws `ApiError` `unavailable` after the last try; errors of a try
 */
export async function retryWithJitter<Result>(
  table: Table,
  attempt: () => Promise<{ result: Result } | undefined>,
  { tries, firstPauseMs, longestPauseMs }: RetryLimits,
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    const success = await attempt();
    if (success) return success.result;
    if (tried === tries) throw unavailable();
    await table.sleep(Math.random() * Math.min(firstPauseMs * 2 ** (tried - 1), longestPauseMs));
  }
}
