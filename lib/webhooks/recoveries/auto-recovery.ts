import type { Context } from '../../context/context.ts';
import { ApiError } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { maxRecoveredEvents, recoveryRates } from '../../contract/webhooks/recoveries.ts';
import { ignoreConflict } from '../../table/access/transact.ts';
import { graceMs } from '../../table/lists/due.ts';
import {
  type AutoRecovery,
  deleteAutoRecovery,
  deleteAutoRecoveryWrite,
  postponeAutoRecovery,
  readAutoRecovery,
} from '../../table/recoveries/auto-recoveries.ts';
import {
  insertRecovery,
  type RecoveryLock,
  readRecoveryLock,
  readRecoveryPage,
} from '../../table/recoveries/recoveries.ts';
import { isPaused } from '../../table/webhooks/pauses.ts';
import { readWebhook, type StoredWebhook } from '../../table/webhooks/webhooks.ts';
import { sendOrder } from '../orders/send-order.ts';
import { longestMs, readMissedTimes, wantedOf } from './plan-auto-recovery.ts';

/** The shortest time between the beginnings of two such recoveries of a webhook, in milliseconds. */
const shortestGapMs = 10 * 60_000;

/** When a worker looks again whether another recovery of the webhook has ended, in milliseconds. */
const lookAgainMs = 10_000;

/** Begins the recovery that the service is to begin for a webhook, if there is one and it can begin now. */
export async function beginAutoRecovery(
  context: Context & Context & Pick<Context, 'ulid'>,
  organization: Organization,
  webhookId: string,
): Promise<void> {
  // It is looked for at each end of a pause, and most have none.
  const auto = await readAutoRecovery(context, organization, webhookId);
  if (!auto) return;
  const [webhook, lock, newest] = await Promise.all([
    readWebhook(context, organization, webhookId),
    readRecoveryLock(context, organization, webhookId),
    readRecoveryPage(context, organization, webhookId, { limit: 20, offset: 0 }),
  ]);
  if (!webhook?.autoRecover) return deleteAutoRecovery(context, auto);
  // Its end puts the item again.
  if (isPaused(webhook)) return;
  const now = context.clock();
  const latest = newest.items.find((recovery) => recovery.auto);
  const earliest = latest ? timeOf(ulidOf(latest.id)) + shortestGapMs : 0;
  // After a step back of the clock, the latest one seems to be from the future.
  const waitsUntil = lock?.runs ? now + lookAgainMs : Math.min(earliest, now + shortestGapMs);
  if (waitsUntil > now) {
    if (await postponeAutoRecovery(context, auto, timestamp(waitsUntil + graceMs)))
      await sendOrder(context, auto, { kind: 'auto-recovery' }, waitsUntil);
    return;
  }
  await begin(context, webhook, auto, lock);
}

async function begin(
  context: Context & Context & Pick<Context, 'ulid'>,
  webhook: StoredWebhook,
  auto: AutoRecovery,
  lock: RecoveryLock | undefined,
): Promise<void> {
  const { organization, webhookId } = auto;
  const wanted = wantedOf(context, auto);
  const range = { ...wanted, since: Math.max(wanted.since, context.clock() - longestMs) };
  let [matched, until] = [0, range.until];
  for await (const time of readMissedTimes(context, organization, webhook, range)) {
    matched++;
    if (matched < maxRecoveredEvents) continue;
    until = time;
    break;
  }
  const id = `rc_${context.ulid()}`;
  const recovery = { organization, webhookId, id, ...range, until, matched, auto: true as const };
  const inserted = insertRecovery(context, { ...recovery, ratePerSecond: recoveryRates.standard }, lock, [
    deleteAutoRecoveryWrite(auto),
  ]);
  await inserted.catch((error) => {
    // Another recovery was first, or it was extended: the next worker begins it.
    if (!(error instanceof ApiError)) ignoreConflict(error);
  });
}
