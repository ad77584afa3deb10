import type { Context } from '../../context/context.ts';
import type { Page } from '../../contract/endpoint.ts';
import { ApiError, notFound } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { grouped } from '../../contract/shapes.ts';
import {
  leftOutReasons,
  maxRecoveredEvents,
  maxRecoveryRange,
  missedKinds,
  type NewRecovery,
  type Recovery,
  type RecoveryStarted,
  recoveryRates,
} from '../../contract/webhooks/recoveries.ts';
import type { BatchingContext } from '../../table/access/batchers.ts';
import type { TableContext } from '../../table/access/client.ts';
import { retryOnConflict, transact } from '../../table/access/transact.ts';
import { readEventsInOrder } from '../../table/events/event-log.ts';
import { followTime } from '../../table/events/log-clock.ts';
import { openLog } from '../../table/events/log-times.ts';
import type { RecordResponse } from '../../table/idempotency.ts';
import { firstKeptDay } from '../../table/lists/history-days.ts';
import { readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import {
  insertRecovery,
  readRecovery,
  readRecoveryLock,
  readRecoveryPage,
  recoveryInProgress,
  type StoredRecovery,
  shownRecovery,
  storeCancelled,
} from '../../table/recoveries/recoveries.ts';
import { isPaused, webhookPaused } from '../../table/webhooks/pauses.ts';
import { readWebhook, type StoredWebhook } from '../../table/webhooks/webhooks.ts';
import { undoAfterMs } from './cancelled.ts';
import { readMissed, readSubscriptions, type WalkedEvent, type Wanted, walkedEvent } from './missed-events.ts';
import { longestDeliveryMs } from './plan-auto-recovery.ts';
import { readMade } from './progress.ts';

/** The range of a recovery (Unix times in ms, both included), and the events in it that it sends. */
type WantedRange = Wanted & { since: number; until: number };

/** The numbers of the events of a range. */
type Counted = Omit<RecoveryStarted, 'recoveryId'>;

/** How many deliveries are compared at the same time. */
const atOnce = 500;

/**
 * Counts the events of a range that a webhook has missed, and stores a recovery that sends them, unless there are none. No
 * message is sent here: the stream has the new recovery, and it is continued at once; the sweeper finds it within a minute if not.
 *
 * @throws `ApiError` `not_found`, `range_too_large`; unless it is a dry run also `webhook_paused`, `recovery_in_progress`
 */
export async function recoverWebhook(
  context: Context,
  organization: Organization,
  webhookId: string,
  { since, until, events, include, ratePerSecond = recoveryRates.standard, dryRun = false }: NewRecovery,
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
  const counted = await countMissed(context, organization, webhook, range);
  if (dryRun || counted.matched === 0) {
    if (recordResponse) await transact(context.table, recordResponse(counted));
    return counted;
  }
  const started = { ...counted, recoveryId: `rc_${context.ulid()}` };
  const recovery = {
    organization,
    webhookId,
    id: started.recoveryId,
    ...range,
    ratePerSecond,
    matched: counted.matched,
  };
  await insertRecovery(context, recovery, lock, recordResponse?.(started));
  return started;
}

/**
 * Returns a recovery with its present progress.
 *
 * @throws `ApiError` `not_found`
 */
export async function getRecovery(
  context: BatchingContext & { clock: () => number },
  organization: Organization,
  webhookId: string,
  recoveryId: string,
): Promise<Recovery> {
  return progressShown(context, await requireRecovery(context, organization, webhookId, recoveryId));
}

/**
 * Returns a page of the recoveries of a webhook, newest first, and their exact number.
 *
 * @throws `ApiError` `not_found`
 */
export async function listRecoveries(
  context: BatchingContext & { clock: () => number },
  organization: Organization,
  webhookId: string,
  page: { limit: number; offset: number },
): Promise<Page<Recovery>> {
  const [webhook, { items, total }] = await Promise.all([
    readWebhook(context, organization, webhookId),
    readRecoveryPage(context, organization, webhookId, page),
  ]);
  if (!webhook) throw notFound('webhook');
  return { items: await Promise.all(items.map((one) => progressShown(context, one))), total };
}

/**
 * Cancels a recovery. Workers that are about to begin an attempt of it read its state, so none begins after that. Its attempts
 * that were stored and not made are taken back later (`takeBack`), when no worker can still be making one.
 *
 * @throws `ApiError` `not_found`, `recovery_completed`
 */
export async function cancelRecovery(
  context: BatchingContext & { clock: () => number },
  organization: Organization,
  webhookId: string,
  recoveryId: string,
  recordResponse: RecordResponse,
): Promise<Recovery> {
  return retryOnConflict(context.table, async () => {
    const before = await requireRecovery(context, organization, webhookId, recoveryId);
    if (before.status === 'completed') throw recoveryCompleted(recoveryId);
    const isCancelled = before.status === 'cancelled';
    const now = context.clock();
    const after = isCancelled ? before : { ...before, status: 'cancelled' as const, cancelledAt: timestamp(now) };
    const shown = await progressShown(context, after);
    const records = recordResponse?.(shown) ?? [];
    if (!isCancelled) await storeCancelled(context, after, timestamp(now + undoAfterMs), records);
    else if (records.length > 0) await transact(context.table, records);
    return shown;
  });
}

async function requireRecovery(
  context: TableContext,
  organization: Organization,
  webhookId: string,
  recoveryId: string,
): Promise<StoredRecovery> {
  const [webhook, recovery] = await Promise.all([
    readWebhook(context, organization, webhookId),
    readRecovery(context, organization, webhookId, recoveryId),
  ]);
  if (!webhook) throw notFound('webhook');
  if (!recovery) throw notFound('recovery');
  return recovery;
}

/** Returns a recovery as the API shows it, with the attempts that were made since its progress was stored. */
async function progressShown(
  context: BatchingContext & { clock: () => number },
  recovery: StoredRecovery,
): Promise<Recovery> {
  if (recovery.status === 'completed') return shownRecovery(recovery);
  const { delivered, failed } = await readMade(context, recovery, context.clock());
  return shownRecovery({ ...recovery, delivered, failed });
}

function recoveryCompleted(id: string): ApiError {
  return new ApiError(
    'recovery_completed',
    `The recovery ${id} is completed; only a running recovery can be cancelled.`,
  );
}

/**
 * Counts the events of a range by whether they are sent.
 *
 * @throws `ApiError` `range_too_large` for more than `maxRecoveredEvents`, or if the range has more than
 *   `maxRecoveryRange` events
 */
async function countMissed(
  context: Context,
  organization: Organization,
  webhook: StoredWebhook,
  range: WantedRange,
): Promise<Counted> {
  const { since: from, until: to } = range;
  const walked: WalkedEvent[] = [];
  let beyond: WalkedEvent | undefined;
  for await (const event of readEventsInOrder(context, organization, { from, to })) {
    beyond = walked.length === maxRecoveryRange ? event : undefined;
    if (beyond) break;
    walked.push(walkedEvent(event));
  }
  const last = walked.at(-1);
  const counted: Counted = { matched: 0, matchedByKind: zerosOf(missedKinds), leftOut: zerosOf(leftOutReasons) };
  if (!last) return counted;
  const aheadMs = longestDeliveryMs(context);
  const [subscribed, found] = await Promise.all([
    readSubscriptions(context, organization, webhook),
    readDeliveryRows(context, organization, webhook.id, { from, to: timeOf(ulidOf(last.id)), aheadMs }),
  ]);
  for (let at = 0; at < walked.length; at += atOnce) {
    const some = walked.slice(at, at + atOnce);
    const missed = await Promise.all(some.map((event) => readMissed(context, subscribed, range, event, found)));
    for (const [index, one] of missed.entries()) {
      if (one.kind === undefined) {
        counted.leftOut[one.leftOut]++;
        continue;
      }
      if (counted.matched === maxRecoveredEvents)
        throw rangeTooLarge(
          `This range has more than ${grouped(maxRecoveredEvents)} events to send`,
          some[index] as WalkedEvent,
          from,
        );
      counted.matched++;
      counted.matchedByKind[one.kind]++;
    }
  }
  if (beyond) throw rangeTooLarge(`This range has more than ${grouped(maxRecoveryRange)} events`, beyond, from);
  return counted;
}

const zerosOf = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

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
