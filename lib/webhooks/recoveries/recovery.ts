import type { Context } from '../../context.ts';
import { ApiError, notFound } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import {
  maxRecoveredEvents,
  maxRecoveryRange,
  type NewRecovery,
  type Recovery,
  type RecoveryStarted,
} from '../../contract/recoveries.ts';
import { grouped } from '../../contract/shapes.ts';
import type { TableContext } from '../../table/client.ts';
import { readEventsInOrder } from '../../table/deliveries/event-log.ts';
import { firstKeptDay } from '../../table/deliveries/history-days.ts';
import { isPaused, webhookPaused } from '../../table/deliveries/pauses.ts';
import { readWebhook, type StoredWebhook } from '../../table/deliveries/webhooks.ts';
import { followTime, openLog } from '../../table/events/log-clock.ts';
import type { RecordResponse } from '../../table/idempotency.ts';
import { readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import {
  insertRecovery,
  readRecovery,
  readRecoveryLock,
  recoveryInProgress,
  shownRecovery,
} from '../../table/recoveries/recoveries.ts';
import { transact } from '../../table/transact.ts';
import { readMissed, readSubscriptions, type WalkedEvent, type Wanted, walkedEvent } from './missed-events.ts';

/** The range of a recovery (Unix times in ms, both included), and the events in it that it sends. */
type WantedRange = Wanted & { since: number; until: number };

/** How many deliveries are compared at the same time. */
const atOnce = 500;

/** How long the last attempt of a delivery can be later than by the retry schedule, in milliseconds. */
const laterMs = 10 * 60_000;

/**
 * Counts the events of a range that a webhook has missed, and stores a recovery that sends them. No message is sent here:
 * the sweeper finds the recovery, which is due at once, within a minute.
 *
 * @throws `ApiError` `not_found`, `range_too_large`; unless it is a dry run also `webhook_paused`, `recovery_in_progress`
 */
export async function recoverWebhook(
  context: Context,
  organization: Organization,
  webhookId: string,
  { since, until, events, include, dryRun = false }: NewRecovery,
  recordResponse: RecordResponse,
): Promise<RecoveryStarted> {
  const now = context.clock();
  const webhook = await readWebhook(context, organization, webhookId);
  if (!webhook) throw notFound('webhook');
  const lock = dryRun ? undefined : await readRecoveryLock(context, organization, webhookId);
  if (!dryRun && isPaused(webhook)) throw webhookPaused();
  if (lock?.runs) throw recoveryInProgress();
  await openLog(context, organization);
  const newest = followTime(context);
  const range = {
    since: Math.max(since, Date.parse(firstKeptDay(now))),
    // After a step back, the log has events of a time that the clock has not reached.
    until: Math.min(until ?? newest, newest),
    ...(events && { events }),
    include,
  };
  const matched = await countMissed(context, organization, webhook, range);
  if (dryRun) {
    if (recordResponse) await transact(context.table, recordResponse({ matched }));
    return { matched };
  }
  const started = { matched, recoveryId: `rc_${context.ulid()}` };
  const recovery = { organization, webhookId, id: started.recoveryId, ...range, matched };
  await insertRecovery(context, recovery, lock, recordResponse?.(started));
  return started;
}

/**
 * Returns a recovery with its progress.
 *
 * @throws `ApiError` `not_found`
 */
export async function getRecovery(
  context: TableContext,
  organization: Organization,
  webhookId: string,
  recoveryId: string,
): Promise<Recovery> {
  const [webhook, recovery] = await Promise.all([
    readWebhook(context, organization, webhookId),
    readRecovery(context, organization, webhookId, recoveryId),
  ]);
  if (!webhook) throw notFound('webhook');
  if (!recovery) throw notFound('recovery');
  return shownRecovery(recovery);
}

/**
 * Returns the number of events of a range that a webhook has missed.
 *
 * @throws `ApiError` `range_too_large` for more than `maxRecoveredEvents`, or if the range has more than
 *   `maxRecoveryRange` events
 */
async function countMissed(
  context: Context,
  organization: Organization,
  webhook: StoredWebhook,
  range: WantedRange,
): Promise<number> {
  const { since: from, until: to } = range;
  const walked: WalkedEvent[] = [];
  let beyond: WalkedEvent | undefined;
  for await (const event of readEventsInOrder(context, organization, { from, to })) {
    beyond = walked.length === maxRecoveryRange ? event : undefined;
    if (beyond) break;
    walked.push(walkedEvent(event));
  }
  const last = walked.at(-1);
  if (!last) return 0;
  const aheadMs = context.retrySchedule.reduce((sum, wait) => sum + wait, 0) + laterMs;
  const [subscribed, found] = await Promise.all([
    readSubscriptions(context, organization, webhook),
    readDeliveryRows(context, organization, webhook.id, { from, to: timeOf(ulidOf(last.id)), aheadMs }),
  ]);
  let matched = 0;
  for (let at = 0; at < walked.length; at += atOnce) {
    const some = walked.slice(at, at + atOnce);
    const missed = await Promise.all(some.map((event) => readMissed(context, subscribed, range, event, found)));
    for (const [index, one] of missed.entries()) {
      if (!one?.kind) continue;
      if (matched === maxRecoveredEvents)
        throw rangeTooLarge(
          `This range has more than ${grouped(maxRecoveredEvents)} events to send`,
          some[index] as WalkedEvent,
          from,
        );
      matched++;
    }
  }
  if (beyond) throw rangeTooLarge(`This range has more than ${grouped(maxRecoveryRange)} events`, beyond, from);
  return matched;
}

/**
 * Returns the error for a range with too many events. It names the latest `until` that works, if there is one.
 *
 * @param tooMany the first event that is too many
 */
function rangeTooLarge(what: string, tooMany: WalkedEvent, since: number): ApiError {
  const until = timeOf(ulidOf(tooMany.id)) - 1;
  if (until < since)
    return new ApiError('range_too_large', `${what} in its first millisecond; name fewer kinds or events.`);
  const message = `until must be ${timestamp(until)} or earlier`;
  return new ApiError('range_too_large', `${what}; choose an earlier until, see details.`, [
    { path: 'until', code: 'limit', message },
  ]);
}
