import type { Context } from '../context.ts';
import { isWebhookEvent } from '../contract/events.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Webhook } from '../contract/webhooks.ts';
import type { TableContext } from '../table/client.ts';
import type { Failing } from '../table/deliveries/failing.ts';
import { type AttemptOutcome, readOutcomesBack } from '../table/deliveries/outcomes.ts';
import { announce, announcedFailure, type OwnEventsHolder } from '../table/deliveries/own-events.ts';
import { lastResume, openPauseOf, type Pausable, withoutPause } from '../table/deliveries/pauses.ts';
import { changeWebhook, readWebhook, type StoredWebhook } from '../table/deliveries/webhooks.ts';
import { type LogClockContext, logTimeOf } from '../table/events/log-clock.ts';
import { ignoreConflict, retryOnConflict } from '../table/transact.ts';
import { createOwnEvent } from './own-events.ts';

/**
 * A webhook fails from the first failed attempt after its last success on. `webhook.failing` announces that when three
 * deliveries have failed, or one permanently; `webhook.recovered` announces the end. In between, the item of the webhook has
 * the time from which it fails.
 */

/** The number of deliveries whose newest attempts must have failed before a webhook counts as failing. */
const fewestFailed = 3;

/**
 * How many outcomes a failed attempt reads at first, and at most: usually, an earlier attempt has succeeded. The newest 100
 * are also those from which a read of a webhook has its times.
 */
const [firstOutcomes, mostOutcomes] = [6, 100];

/** The part of a webhook that tells since when it fails. */
type MayFail = Pausable & OwnEventsHolder & { failing?: Failing | undefined };

/**
 * Returns whether a failed attempt can be the beginning of a time in which a webhook fails. Tests and events about webhooks
 * cannot: two webhooks that receive the events about each other would otherwise let each other fail.
 */
export function canBeginFailure({ test, event }: Pick<AttemptOutcome, 'test' | 'event'>): boolean {
  return !test && !isWebhookEvent(event);
}

/** Returns what is known of the failures of a webhook since it was resumed; `undefined` if no check was made. */
export function knownOf(webhook: MayFail): Failing | undefined {
  const { failing } = webhook;
  return failing && Date.parse(failing.since) >= lastResume(webhook) ? failing : undefined;
}

/** Returns since when a webhook fails, as its item has it (ISO 8601); `undefined` if the item has no such time. */
export function storedFailure(webhook: MayFail): string | undefined {
  return announcedFailure(webhook) ?? knownOf(webhook)?.since;
}

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
  // After another event, the outcomes may be those of a time that has ended. The next failed attempt reads them again.
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
  context: LogClockContext,
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
    await announce(context, organization, before, createOwnEvent('webhook.recovered', before, announced, now));
  });
}

/** Resumes a webhook that the service has paused. A version before these events may not have announced that it fails. */
async function resumeRecovered(
  context: LogClockContext,
  organization: Organization,
  before: StoredWebhook,
  now: number,
): Promise<void> {
  const since = await logTimeOf(context, organization, now);
  const after = { ...before, active: true, pauses: withoutPause(before, since), version: before.version + 1 };
  const failingSince = before.ownEvents?.failingSince ?? storedFailure(before);
  const event = createOwnEvent('webhook.recovered', after, failingSince, now);
  await changeWebhook(context, organization, before, after, { since: timestamp(since), now, event });
}

/** The times of the latest attempts to a webhook, and since when deliveries to it only fail. */
type Health = Pick<Webhook, 'lastDeliveryAt' | 'lastSuccessAt' | 'lastFailureAt' | 'failingSince'>;

/** Returns the health of a webhook, from the newest outcomes and what its item has of its failures. */
export function healthOf(webhook: MayFail, newest: readonly AttemptOutcome[]): Health {
  const lastDeliveryAt = newest[0]?.deliveredAt;
  const successAt = newest.findIndex(({ error }) => error === undefined);
  const lastSuccessAt = newest[successAt]?.deliveredAt ?? webhook.failing?.lastSuccessAt;
  const lastFailureAt = newest.find(({ error }) => error !== undefined)?.deliveredAt;
  const resumedAt = lastResume(webhook);
  const failures = (successAt === -1 ? newest : newest.slice(0, successAt)).filter(
    (outcome) => canBeginFailure(outcome) && Date.parse(outcome.deliveredAt) >= resumedAt,
  );
  // The item knows an earlier time than the newest outcomes, unless they have a success.
  const known = successAt === -1 ? storedFailure(webhook) : undefined;
  const failingSince = failures.length > 0 ? (known ?? failures.at(-1)?.deliveredAt) : undefined;
  return {
    ...(lastDeliveryAt !== undefined && { lastDeliveryAt }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(lastFailureAt !== undefined && { lastFailureAt }),
    ...(failingSince !== undefined && { failingSince }),
  };
}
