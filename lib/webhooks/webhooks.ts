import type { Context } from '../context/context.ts';
import type { Page, Precondition, Versioned } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type {
  AttemptFilter,
  AttemptHour,
  DeliveryRecord,
  Webhook,
  WebhookDetail,
  WebhookPatch,
} from '../contract/webhooks/webhooks.ts';
import { rejectUrl } from '../sender/receivers.ts';
import type { TableContext } from '../table/access/client.ts';
import { applyPatch } from '../table/access/patch.ts';
import { retryOnConflict } from '../table/access/transact.ts';
import { readAttemptHours } from '../table/deliveries/attempt-counts.ts';
import type { HourCounts } from '../table/deliveries/attempt-hours.ts';
import { readFilteredAttempts } from '../table/deliveries/filtered-history.ts';
import { readAttemptPage, readLastAttemptEnd } from '../table/deliveries/history.ts';
import { type AttemptOutcome, readNewestOutcomes } from '../table/deliveries/outcomes.ts';
import type { LogClockContext } from '../table/events/log-clock.ts';
import { logTimeOf } from '../table/events/log-times.ts';
import { autoRecoveryWrite } from '../table/recoveries/auto-recoveries.ts';
import { openPauseOf, withoutPause, withPause } from '../table/webhooks/pauses.ts';
import {
  changeWebhook,
  readWebhook,
  readWebhooks,
  removeWebhook,
  type StoredWebhook,
} from '../table/webhooks/webhooks.ts';
import { healthOf, storedFailure } from './failing-times.ts';
import { createOwnEvent } from './own-events.ts';

/**
 * Returns the webhooks of an organization, newest first.
 *
 * @param include `health` also reads the newest attempts to each
 */
export async function listWebhooks(
  context: TableContext,
  organization: Organization,
  include?: 'health',
): Promise<Webhook[]> {
  const webhooks = await readWebhooks(context, organization);
  if (include === 'health') {
    const newest = await Promise.all(webhooks.map(({ id }) => readNewestOutcomes(context, organization, id)));
    return webhooks.map((webhook, at) => withHealth(webhook, newest[at] as AttemptOutcome[]));
  }
  const ends = await Promise.all(webhooks.map(({ id }) => readLastAttemptEnd(context, organization, id)));
  return webhooks.map((webhook, at) => withLastEnd(shownFrom(webhook), ends[at]));
}

/**
 * Returns a webhook.
 *
 * @param include `hours` also reads the numbers of attempts in the last 24 hours
 * @throws `ApiError` `not_found`
 */
export async function getWebhook(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  include?: 'hours',
): Promise<Versioned<WebhookDetail>> {
  const [webhook, newest, hours] = await Promise.all([
    requireWebhook(context, organization, id),
    readNewestOutcomes(context, organization, id),
    include === 'hours' ? readAttemptHours(context, organization, id, context.clock()) : undefined,
  ]);
  const { data, version } = versioned(webhook, newest);
  return { data: { ...data, ...(hours && { hours: hours.map(shownHour) }) }, version };
}

function shownHour([startsAt, counts]: [string, HourCounts]): AttemptHour {
  return {
    startsAt,
    status2xx: counts['2xx'] ?? 0,
    status3xx: counts['3xx'] ?? 0,
    status4xx: counts['4xx'] ?? 0,
    status5xx: counts['5xx'] ?? 0,
    noResponse: counts.none ?? 0,
  };
}

/**
 * Changes the fields of a webhook that a patch names; equal values write nothing. Waiting retries go to a new URL.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`, `validation_failed` or `url_not_allowed` for the URL,
 *   `limit_reached` for the pauses
 */
export async function updateWebhook(
  context: Pick<Context, 'allowedReceivers'> & LogClockContext,
  organization: Organization,
  id: string,
  patch: WebhookPatch,
  ifMatch: Precondition,
): Promise<Versioned<Webhook>> {
  return retryOnConflict(context.table, async () => {
    // All is read before the write: a read that failed after it would respond that nothing was changed.
    const [before, newest] = await Promise.all([
      requireWebhook(context, organization, id),
      readNewestOutcomes(context, organization, id),
    ]);
    ifMatch(before);
    if (patch.url !== undefined) rejectUrl(patch.url, context.allowedReceivers);
    const now = context.clock();
    // Events are compared with these times.
    const since = await logTimeOf(context, organization, now);
    const after = patched(before, patch, since);
    const isPausedNow = before.active && !after.active;
    const { failingSince } = healthOf(before, newest);
    const event = isPausedNow ? createOwnEvent('webhook.paused', after, failingSince, now) : undefined;
    const change = { since: timestamp(since), now, event, further: recoveryAtResume(organization, before, after, now) };
    if (after !== before) await changeWebhook(context, organization, before, after, change);
    return versioned(after, newest);
  });
}

/** Returns the write of the recovery that begins when a webhook with `autoRecover` is resumed; none for other changes. */
function recoveryAtResume(organization: Organization, before: StoredWebhook, after: StoredWebhook, now: number) {
  const pause = openPauseOf(before);
  if (!pause || !after.active || !after.autoRecover) return [];
  const failure = storedFailure(before);
  const missedFrom = failure !== undefined && failure < pause.from ? failure : pause.from;
  return [autoRecoveryWrite(organization, after.id, { missedFrom: Date.parse(missedFrom), until: now }, now)];
}

/**
 * Deletes a webhook. Its waiting deliveries are not sent.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`
 */
export async function deleteWebhook(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  ifMatch: Precondition,
): Promise<void> {
  await retryOnConflict(context.table, async () => {
    const webhook = await requireWebhook(context, organization, id);
    ifMatch(webhook);
    await removeWebhook(context, organization, webhook, context.clock());
  });
}

/**
 * Returns a page of the attempts to deliver to a webhook that match the filters, newest first.
 *
 * @throws `ApiError` `not_found`, `range_too_large`
 */
export async function listDeliveries(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  { limit, offset, ...filter }: { limit: number; offset: number } & AttemptFilter,
): Promise<Page<DeliveryRecord>> {
  await requireWebhook(context, organization, id);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return isFiltered
    ? readFilteredAttempts(context, organization, id, { limit, offset, ...filter })
    : readAttemptPage(context, organization, id, { limit, offset });
}

async function requireWebhook(context: TableContext, organization: Organization, id: string): Promise<StoredWebhook> {
  const webhook = await readWebhook(context, organization, id);
  if (!webhook) throw notFound('webhook');
  return webhook;
}

/** Returns a webhook after a patch; the same object if nothing changes. Its pauses decide why it is not active. */
function patched(webhook: StoredWebhook, patch: WebhookPatch, now: number): StoredWebhook {
  const next = applyPatch(webhook, patch);
  if (next === webhook) return webhook;
  const changed = { ...next, version: webhook.version + 1 };
  if (next.active === webhook.active) return changed;
  const { disabledReason, disabledAt, ...rest } = changed;
  return { ...rest, pauses: next.active ? withoutPause(webhook, now) : withPause(webhook, now) };
}

function versioned(webhook: StoredWebhook, newest: readonly AttemptOutcome[]): Versioned<Webhook> {
  return { data: withHealth(webhook, newest), version: webhook.version };
}

/** Returns a webhook without its internal attributes. */
function shownFrom(stored: StoredWebhook): Webhook {
  const { version, pauses, failing, ownEvents, taskFilters, slow, paceVersion, ...webhook } = stored;
  return webhook;
}

/** Returns a webhook with what its newest attempts say of it, and without its internal attributes. */
export function withHealth(stored: StoredWebhook, newest: readonly AttemptOutcome[]): Webhook {
  return { ...shownFrom(stored), ...healthOf(stored, newest) };
}

/** Returns a webhook with the end of its newest attempt. Versions before the attempt log stored it in the webhook. */
function withLastEnd(webhook: Webhook, lastEnd: string | undefined): Webhook {
  return lastEnd === undefined ? webhook : { ...webhook, lastDeliveryAt: lastEnd };
}
