import type { Context } from '../../context/context.ts';
import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { BatchingContext } from '../../table/access/batchers.ts';
import type { Key } from '../../table/access/keys.ts';
import { getEach } from '../../table/access/reads.ts';
import type { Item } from '../../table/access/write.ts';
import { graceMs } from '../../table/lists/due.ts';
import { findRowOf, readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import {
  deleteRecoveredAttempt,
  recoveredMessage,
  type StoredRecovery,
  storeRecoveryProgress,
  unlistRecovery,
  unlockRecovery,
} from '../../table/recoveries/recoveries.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';

/** How long other workers skip a recovery that one has taken, in milliseconds: longer than a function can run. */
export const takenMs = 2 * 60_000;

/**
 * How long after the cancellation of a recovery its attempts are taken back that were not made, in milliseconds: no attempt begins
 * later than 2 s after it, and one that has begun has its row within 30 s.
 */
export const undoAfterMs = 35_000;

/** How many attempts are taken back at the same time. */
const stepSize = 50;

/**
 * Takes the attempts of a cancelled recovery back that were not made: their events are missed as before, and retries that they
 * have replaced are sent when they are due. A worker that continued the recovery when it was cancelled can store more of them;
 * so this is done once more when no worker of that time can run.
 */
export async function takeBack(
  context: BatchingContext & Context,
  recovery: StoredRecovery,
  hasTime: () => boolean,
): Promise<void> {
  const { organization, webhookId, since, until, cancelledAt = '' } = recovery;
  const found = await readDeliveryRows(context, organization, webhookId, { from: since, to: until });
  const own = [...found.redeliveries.values()].flat().filter((item) => item.recovery === ulidOf(recovery.id));
  for (let at = 0; at < own.length; at += stepSize) {
    // It is taken again when this worker's time is over.
    if (!hasTime()) return;
    const some = own.slice(at, at + stepSize);
    const rows = await Promise.all(some.map((item) => findRowOf(context, found, recoveredMessage(item))));
    await takeBackUnmade(
      context,
      some.filter((_, index) => !rows[index]),
    );
  }
  await unlockRecovery(context, recovery);
  const lastAt = Date.parse(cancelledAt) + undoAfterMs + takenMs;
  if (context.clock() >= lastAt) await unlistRecovery(context, recovery);
  else await storeRecoveryProgress(context, recovery, {}, timestamp(lastAt));
}

async function takeBackUnmade(context: BatchingContext & Context, items: readonly Item[]): Promise<void> {
  const replaced = items.filter((item) => item.replaces !== undefined);
  const rows = await getEach(
    context.table,
    replaced.map(({ pk, replaces }) => ({ pk, sk: replaces }) as Key),
  );
  const rowOf = new Map(replaced.map((item, at) => [item, rows[at]]));
  const now = context.clock();
  const retries = await Promise.all(
    items.map((item) => {
      const row = rowOf.get(item);
      const dueAt = row ? Date.parse(row.nextAttemptAt as string) : now;
      return deleteRecoveredAttempt(context, item, row, timestamp(Math.max(dueAt, now) + graceMs));
    }),
  );
  // The messages of these retries may have been dropped.
  await sendAttemptMessages(
    context,
    retries.filter((retry) => retry !== undefined),
  );
}
