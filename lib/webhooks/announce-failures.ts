import type { Context } from '../context/context.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { TableContext } from '../table/access/client.ts';
import { ignoreConflict, retryOnConflict } from '../table/access/transact.ts';
import { readOutcomesBack } from '../table/deliveries/outcomes.ts';
import { logTimeOf } from '../table/events/log-times.ts';
import { announce, announcedFailure } from '../table/webhooks/own-events.ts';
import { lastResume, openPauseOf, withoutPause } from '../table/webhooks/pauses.ts';
import { changeWebhook, readWebhook, type StoredWebhook } from '../table/webhooks/webhooks.ts';
import { canBeginFailure, knownOf, type MayFail, storedFailure } from './failing-times.ts';
import { createOwnEvent } from './own-events.ts';
import { planAutoRecovery } from './recoveries/plan-auto-recovery.ts';

/** The number of deliveries whose newest attempts must have failed before a webhook counts as failing. */
const fewestFailed = 3;

/**
 * How many outcomes a failed attempt reads at first, and at most: usually, an earlier attempt has succeeded. The newest 100
 * are also those from which a read of a webhook has its times.
 */
const [firstOutcomes, mostOutcomes] = [6, 100];

/**
 * Announces that a webhook fails, after a failed attempt whose row is written: if it is the third delivery that has failed
 * since the last success, or has failed permanently. Does nothing if that was announced. Of several workers that see it, one
 * announces it.
 *
 * @param target the webhook before the attempt
 * @param isExhausted whether the attempt was the last one of its retry schedule
 */
export async function noteFailure(
  context: Pick<Context, 'clock'> & TableContext,
  organization: Organization,
  webhookId: string,
  target: MayFail,
  isExhausted: boolean,
): Promise<void> {
  if (announcedFailure(target)) return;
  const since = await readFailure(context, organization, webhookId, target, isExhausted);
  if (since === undefined) return;
  const webhook = await readWebhook(context, organization, webhookId);
  // After another event, the outcomes may belong to a time that has ended. The next failed attempt reads them again.
  if (!webhook || webhook.ownEvents?.count !== target.ownEvents?.count) return;
  const event = createOwnEvent('webhook.failing', webhook, since, context.clock());
  await announce(context, organization, webhook, event).catch(ignoreConflict);
}

/** Returns since when a webhook fails, if that is to be announced (ISO 8601); otherwise `undefined`. */
async function readFailure(
  context: TableContext,
  organization: Organization,
  webhookId: string,
  target: MayFail,
  isExhausted: boolean,
): Promise<string | undefined> {
  const resumedAt = lastResume(target);
  const deliveries = new Set<string>();
  let since: string | undefined;
  let isAfterSuccess = false;
  const range = { from: 0, most: mostOutcomes, first: firstOutcomes };
  for await (const outcome of readOutcomesBack(context, organization, webhookId, range)) {
    isAfterSuccess = outcome.error === undefined;
    if (isAfterSuccess) break;
    if (!canBeginFailure(outcome) || Date.parse(outcome.deliveredAt) < resumedAt) continue;
    deliveries.add(outcome.deliveryId);
    since = outcome.deliveredAt;
  }
  if (since === undefined || (!isExhausted && deliveries.size < fewestFailed)) return undefined;
  return isAfterSuccess ? since : (knownOf(target)?.since ?? since);
}

/**
 * Announces that a webhook has recovered, because of a successful attempt, if it was announced that it fails.
 *
 * @param target the webhook before the attempt
 * @param resumes whether the success also resumes the webhook, if the service has paused it because its deliveries failed
 */
export async function noteSuccess(
  context: Context,
  organization: Organization,
  webhookId: string,
  target: MayFail,
  { resumes = false } = {},
): Promise<void> {
  const announced = target.ownEvents?.failingSince;
  const isToResume = resumes && openPauseOf(target)?.reason !== undefined;
  if (announced === undefined && !isToResume) return;
  await retryOnConflict(context.table, async () => {
    const before = await readWebhook(context, organization, webhookId);
    if (!before) return;
    const now = context.clock();
    if (isToResume && openPauseOf(before)?.reason) return resumeRecovered(context, organization, before, now);
    // Another success may have been first, and the webhook may fail again.
    if (announced === undefined || before.ownEvents?.failingSince !== announced) return;
    const recovery = await recoveryAfter(context, organization, before, announced);
    const event = createOwnEvent('webhook.recovered', before, announced, now, recovery?.notRecovered);
    await announce(context, organization, before, event, recovery ? [recovery.write] : []);
  });
}

/** Returns the recovery of what a webhook with `autoRecover` has missed since it failed (ISO 8601); `undefined` for others. */
async function recoveryAfter(
  context: Context,
  organization: Organization,
  webhook: StoredWebhook,
  since: string | undefined,
) {
  return webhook.autoRecover && since !== undefined
    ? planAutoRecovery(context, organization, webhook, since)
    : undefined;
}

/**
 * Resumes a webhook that the service has paused, and announces that it has recovered, unless an attempt that was running in the
 * pause has done so. Versions before 0.3.0 have announced nothing of their pauses.
 */
async function resumeRecovered(
  context: Context,
  organization: Organization,
  before: StoredWebhook,
  now: number,
): Promise<void> {
  const since = await logTimeOf(context, organization, now);
  const after = { ...before, active: true, pauses: withoutPause(before, since), version: before.version + 1 };
  const failingSince = before.ownEvents ? before.ownEvents.failingSince : storedFailure(before);
  const recovery = await recoveryAfter(context, organization, before, failingSince ?? openPauseOf(before)?.from);
  const { notRecovered } = recovery ?? {};
  const event =
    failingSince === undefined
      ? undefined
      : createOwnEvent('webhook.recovered', after, failingSince, now, notRecovered);
  const further = recovery ? [recovery.write] : [];
  await changeWebhook(context, organization, before, after, { since: timestamp(since), now, event, further });
}
