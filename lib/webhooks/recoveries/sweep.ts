import type { Context } from '../../context/context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Item } from '../../table/access/write.ts';
import { type SweepCall, type Swept, sweep } from '../../table/lists/due.ts';
import { autoRecoveryFrom, autoRecoveryKind, autoRecoveryPartition } from '../../table/recoveries/auto-recoveries.ts';
import {
  readRecovery,
  readRecoveryLock,
  recoveryFrom,
  recoveryPartition,
  type StoredRecovery,
  takeRecovery,
} from '../../table/recoveries/recoveries.ts';
import { beginAutoRecovery } from './auto-recovery.ts';
import { takenMs } from './cancelled.ts';
import { continueRecovery } from './walk.ts';

/** How many recoveries a sweep continues at the same time. */
const atOnce = 5;

/**
 * Begins the recoveries of webhooks with `autoRecover`, and continues the recoveries that are due. Returns the number of messages
 * that it has sent.
 */
export async function sweepRecoveries(
  context: Context & Pick<Context, 'retrySchedule' | 'ulid'>,
  call: Required<SweepCall>,
): Promise<Swept> {
  let sent = 0;
  const partitions = [recoveryPartition, autoRecoveryPartition];
  const swept = await sweep(context, partitions, { ...call, againMs: takenMs }, async (items) => {
    let failure: { reason: unknown } | undefined;
    for (let at = 0; at < items.length && call.hasTime(); at += atOnce) {
      const some = items.slice(at, at + atOnce).map((item) => takeOver(context, item, call));
      const done = await Promise.allSettled(some);
      // A recovery that failed does not hold up the others. It is taken again when its entry is due.
      failure ??= done.find((one) => one.status === 'rejected');
      for (const one of done) sent += one.status === 'fulfilled' ? one.value : 0;
    }
    if (failure) throw failure.reason;
  });
  return { ...swept, woken: sent };
}

/** Begins or continues the recovery of an item. Returns the number of messages that it has sent. */
async function takeOver(
  context: Context & Pick<Context, 'retrySchedule' | 'ulid'>,
  item: Item,
  call: Required<SweepCall>,
): Promise<number> {
  if (item.kind !== autoRecoveryKind) return continueRecovery(context, recoveryFrom(item), call);
  const { organization, webhookId } = autoRecoveryFrom(item);
  await beginAutoRecovery(context, organization, webhookId);
  return 0;
}

/**
 * Continues a recovery that an order names, unless another worker has taken it since.
 *
 * @param dueAt its entry in the sweeper's index when the order was sent; ISO 8601
 */
export async function continueOrdered(
  context: Context,
  {
    organization,
    webhookId,
    recoveryId,
    dueAt,
  }: { organization: Organization; webhookId: string; recoveryId: string; dueAt: string },
  hasTime: () => boolean,
): Promise<void> {
  const recovery = await readRecovery(context, organization, webhookId, recoveryId);
  if (recovery?.dueAt === dueAt) await takeAndContinue(context, recovery, hasTime);
}

/** Continues the recovery of a webhook, which has waited for the end of a pause, if there is one. */
export async function continueAfterPause(
  context: Context,
  organization: Organization,
  webhookId: string,
  hasTime: () => boolean,
): Promise<void> {
  const lock = await readRecoveryLock(context, organization, webhookId);
  const recovery = lock && (await readRecovery(context, organization, webhookId, lock.recoveryId));
  if (recovery?.status === 'running') await takeAndContinue(context, recovery, hasTime);
}

async function takeAndContinue(context: Context, recovery: StoredRecovery, hasTime: () => boolean): Promise<void> {
  const now = context.clock();
  const taken = await takeRecovery(context, recovery, timestamp(now + takenMs));
  if (taken) await continueRecovery(context, taken, { until: now, hasTime });
}
