import { inGroups } from '../../aws/in-groups.ts';
import type { Context } from '../../context/context.ts';
import { timeOf, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { maxRecoveredEvents, usualKinds } from '../../contract/webhooks/recoveries.ts';
import type { Write } from '../../table/access/write.ts';
import { readEventsInOrder } from '../../table/events/event-log.ts';
import { type AutoRecovery, autoRecoveryWrite } from '../../table/recoveries/auto-recoveries.ts';
import { readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import type { StoredWebhook } from '../../table/webhooks/webhooks.ts';
import { readMissed, readSubscriptions, type Wanted, walkedEvent } from './missed-events.ts';

/**
 * A webhook with `autoRecover` gets by itself what it has missed: after the success that ends a time in which it failed, from
 * the first failed attempt of that time on, and when it is resumed, from the beginning of the pause on. That transaction also
 * puts an item, from which a worker begins an ordinary recovery. If the worker is lost, the sweeper finds the item.
 */

/** How far back such a recovery sends events, in milliseconds: seven days. */
export const longestMs = 7 * 24 * 60 * 60_000;

/** How long the last attempt of a delivery can be later than by the retry schedule, in milliseconds. */
const laterMs = 10 * 60_000;

/** How many events are compared at the same time. */
const stepSize = 500;

/** How long a worker counts the events that are not recovered at most, in milliseconds. */
const countMs = 5_000;

/** Returns how long after its event the last attempt of a delivery can be, in milliseconds. */
export function longestDeliveryMs({ retrySchedule }: Pick<Context, 'retrySchedule'>): number {
  return retrySchedule.reduce((sum, wait) => sum + wait, 0) + laterMs;
}

/** Returns the missed events of a recovery, from the first that can belong to it on. */
export function wantedOf(
  context: Pick<Context, 'retrySchedule'>,
  { missedFrom, until }: Pick<AutoRecovery, 'missedFrom' | 'until'>,
): Wanted & { since: number; until: number } {
  // An attempt that failed then can be the last of a delivery whose event is older.
  return { since: missedFrom - longestDeliveryMs(context), until, missedFrom, include: [...usualKinds] };
}

/** Yields the times of the missed events of a range, oldest first (Unix times, in ms). */
export async function* readMissedTimes(
  context: Context,
  organization: Organization,
  webhook: StoredWebhook,
  range: Wanted & { since: number; until: number },
): AsyncGenerator<number> {
  const subscribed = await readSubscriptions(context, organization, webhook);
  const events = readEventsInOrder(context, organization, { from: range.since, to: range.until });
  for await (const step of inGroups(events, stepSize)) {
    const times = step.map(({ id }) => timeOf(ulidOf(id)));
    const bounds = { from: times[0] as number, to: times.at(-1) as number };
    const found = await readDeliveryRows(context, organization, webhook.id, bounds);
    const missed = await Promise.all(
      step.map((event) => readMissed(context, subscribed, range, walkedEvent(event), found)),
    );
    for (const [at, { kind }] of missed.entries()) if (kind) yield times[at] as number;
  }
}

/**
 * Plans the recovery of a webhook with `autoRecover`, for the transaction that ends the time in which it failed.
 *
 * @param failingSince the end of the first failed attempt of that time; ISO 8601
 * @returns the write, and the number of missed events that it does not recover: those older than seven days, and those beyond
 *   10,000. They are counted for five seconds at most.
 */
export async function planAutoRecovery(
  context: Context,
  organization: Organization,
  webhook: StoredWebhook,
  failingSince: string,
): Promise<{ write: Write; notRecovered: number }> {
  const now = context.clock();
  const part = { missedFrom: Date.parse(failingSince), until: now };
  const write = autoRecoveryWrite(organization, webhook.id, part, now);
  const range = wantedOf(context, part);
  const oldest = now - longestMs;
  if (range.since >= oldest && !(await hasMoreEvents(context, organization, range))) return { write, notRecovered: 0 };
  let [recovered, notRecovered] = [0, 0];
  for await (const time of readMissedTimes(context, organization, webhook, range)) {
    if (time < oldest || recovered === maxRecoveredEvents) notRecovered++;
    else recovered++;
    if (context.clock() > now + countMs) break;
  }
  return { write, notRecovered };
}

/** Returns whether a range has more events, missed or not, than a recovery sends. */
async function hasMoreEvents(
  context: Context,
  organization: Organization,
  { since: from, until: to }: { since: number; until: number },
): Promise<boolean> {
  let events = 0;
  for await (const _ of readEventsInOrder(context, organization, { from, to }))
    if (++events > maxRecoveredEvents) return true;
  return false;
}
