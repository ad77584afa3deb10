import type { DeliveryRecord } from '../../../lib/contract/webhooks.ts';
import type { Key } from '../../../lib/table/keys.ts';

/** A row of the attempt log. */
export type LoggedAttempt = DeliveryRecord & Key & { nextAttemptAt?: string; dueAt?: string };

/** What the attempts of a delivery say of it: its next attempt while there is one, else its last one. */
export type DeliveryState =
  | { state: 'pending'; attempt: 1 }
  | { state: 'retrying'; attempt: number; nextAttemptAt: string; listed: boolean }
  | { state: 'delivered' | 'exhausted'; attempt: number; listed: boolean };

/** Returns the state of a delivery. `listed` says whether any of its attempts is on the sweeper's list. */
export function stateOf(rows: readonly LoggedAttempt[]): DeliveryState {
  const last = rows.toSorted((a, b) => a.attempt - b.attempt).at(-1);
  if (!last) return { state: 'pending', attempt: 1 };
  const listed = rows.some(({ dueAt }) => dueAt !== undefined);
  const { attempt, error, nextAttemptAt } = last;
  if (error === undefined) return { state: 'delivered', attempt, listed };
  if (nextAttemptAt === undefined) return { state: 'exhausted', attempt, listed };
  return { state: 'retrying', attempt: attempt + 1, nextAttemptAt, listed };
}
