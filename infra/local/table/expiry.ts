import { setTimeout as pause } from 'node:timers/promises';
import type { LocalTable } from './local-table.ts';

/** How many expired items a commit deletes. Other writes wait for it about a millisecond. */
const deletedAtOnce = 50;

/** How often expired items are deleted. DynamoDB's TTL, too, deletes items some time after they expired. */
const everyMs = 60_000;

/** Deletes all items that have expired, in small commits, and returns how many. */
export async function deleteExpiredItems({ deleteExpired }: Pick<LocalTable, 'deleteExpired'>): Promise<number> {
  let total = 0;
  let deleted: number;
  do {
    deleted = await deleteExpired(deletedAtOnce);
    total += deleted;
  } while (deleted === deletedAtOnce);
  return total;
}

/**
 * Does the work of DynamoDB's TTL: deletes expired items from time to time. Until then they can be read, as in AWS.
 *
 * @param wait waits between two deletions, or until the signal aborts
 * @returns a function that stops it, and waits for the current deletion
 */
export function startExpiry(
  table: Pick<LocalTable, 'deleteExpired'>,
  wait = (milliseconds: number, signal: AbortSignal) =>
    pause(milliseconds, undefined, { ref: false, signal }).catch(() => {}),
): () => Promise<void> {
  const stopping = new AbortController();
  const work = async () => {
    for (;;) {
      await wait(everyMs, stopping.signal);
      if (stopping.signal.aborted) return;
      // The next one tries again, such as after a full disk.
      await deleteExpiredItems(table).catch((error) => console.error('Expired items cannot be deleted:', error));
    }
  };
  const ended = work();
  return async () => {
    stopping.abort();
    await ended;
  };
}
