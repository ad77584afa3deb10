import { inGroups } from '../../aws/in-groups.ts';
import type { Context } from '../../context/context.ts';
import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { type BatchingContext, readInBatch } from '../../table/access/batchers.ts';
import { keys } from '../../table/access/keys.ts';
import { readUnmade } from '../../table/deliveries/attempt-log.ts';
import { checkedMs, type EventCheck, removeEventCheck, storeEventCheck } from '../../table/deliveries/event-checks.ts';
import { isAttemptParked, readParkedAttempt } from '../../table/deliveries/parked-attempts.ts';
import { type LoggedEvent, readEventsInOrder, subscribedTimeOf } from '../../table/events/event-log.ts';
import { activeSince, openPauseOf, type Pausable } from '../../table/webhooks/pauses.ts';
import { type StoredWebhook, storedFrom } from '../../table/webhooks/webhooks.ts';
import { mayWait } from '../attempts/attempt-limits.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';
import { isSkipped, park, skippedAfterMs } from '../attempts/paused-attempts.ts';
import { addWaits, type LongestWaits } from '../attempts/waits.ts';
import { isLost } from './compare-deliveries.ts';
import { readFirstAttempts } from './first-attempts.ts';

/**
 * How long after it was due a first attempt without a row and without an item counts as lost, in milliseconds. An attempt
 * that waits for longer has an item.
 */
const lostAfterMs = 2 * 60_000;

/** The shortest time until an open check is made again, in milliseconds. It grows with the age of the events. */
const checkAgainMs = 5 * 60_000;

/** How many events a check compares in one step. */
const stepSize = 200;

/** What the checks of a sweep have found. */
export type FoundByChecks = {
  /** The number of messages that were sent. */
  sent: number;
  /** The number of these messages that were due for 15 minutes or more: they were lost again, or no worker takes them. */
  missing: number;
  waits: LongestWaits;
};

/** Returns whether a first attempt without a row is lost: no message, and no item, is likely to lead to it. */
export async function isFirstAttemptLost(
  context: BatchingContext & { clock: () => number },
  webhook: StoredWebhook,
  message: DeliveryMessage,
): Promise<boolean> {
  return isOverdue(webhook, message, context.clock()) && !(await isAttemptParked(context, message));
}

/** Returns whether a first attempt was due for so long that its message is lost, unless it waits as an item. */
function isOverdue(webhook: Pausable, message: DeliveryMessage, now: number): boolean {
  return now >= firstAttemptLostAt(webhook, message);
}

/** Returns from when on a first attempt without a row counts as lost, unless it waits as an item (Unix time, in ms). */
export function firstAttemptLostAt(webhook: Pausable, { dueAt }: DeliveryMessage): number {
  return Math.max(Date.parse(dueAt), activeSince(webhook)) + lostAfterMs;
}

/**
 * Makes a check: compares the events of its part of the log, oldest first, and sends lost first attempts again. The check
 * is deleted when no first attempt is open. Otherwise it is made again, from the first event with an open one on: after
 * half of the age of the events, so that a long backlog is not read, and its messages are not sent, again and again.
 *
 * @param hasTime whether there is time for another step; the next sweep continues
 */
export async function checkEvents(
  context: Context,
  check: EventCheck,
  found: FoundByChecks,
  hasTime: () => boolean = () => true,
): Promise<void> {
  const { organization, from } = check;
  const to = from + checkedMs - 1;
  let { position, openAfter } = check;
  const range = position === undefined ? { from, to } : { after: position, to };
  for await (const step of inGroups(readEventsInOrder(context, organization, range), stepSize)) {
    if (!hasTime()) return storeEventCheck(context, check, { position, openAfter }, timestamp(context.clock()));
    const open = await sendLostAttempts(context, step, found);
    for (const { id } of step) {
      if (open.has(id)) openAfter ??= position ?? '';
      position = ulidOf(id);
    }
  }
  if (openAfter === undefined) return removeEventCheck(context, check);
  const now = context.clock();
  const again = now + Math.max(checkAgainMs, (now - to) / 2);
  const start = openAfter === '' ? {} : { position: openAfter };
  await storeEventCheck(context, check, start, timestamp(Math.ceil(again)));
}

/**
 * Sends the lost first attempts of events again. Those to a paused webhook are parked, although their messages may be lost.
 *
 * @returns the ids of the events with open first attempts: those without a row, unless they wait for the end of a pause
 *   or for a booked time
 */
export async function sendLostAttempts(
  context: Context,
  events: readonly LoggedEvent[],
  found: FoundByChecks,
): Promise<Set<string>> {
  const now = context.clock();
  const first = (await Promise.all(events.map((event) => readFirstAttempts(context, event)))).flat();
  const madeAt = new Map(events.map((event) => [event.id, subscribedTimeOf(event)]));
  const byWebhook = Map.groupBy(first, ({ webhookId }) => webhookId);
  const unmade = (await Promise.all([...byWebhook.values()].map((some) => readUnmade(context, some)))).flat();
  const open: DeliveryMessage[] = [];
  const lost: DeliveryMessage[] = [];
  await Promise.all(
    unmade.map(async (message) => {
      const item = await readInBatch(context, keys.webhook(message.organization, ulidOf(message.webhookId)));
      // Nothing is sent to a deleted webhook.
      if (!item) return;
      const webhook = storedFrom(item);
      // A pause that has not ended may still end before a recent event.
      const eventTime = madeAt.get(message.eventId as string);
      if (isSkipped(webhook, message, eventTime) && now - Date.parse(message.dueAt) >= skippedAfterMs) return;
      const parked = await readParkedAttempt(context, message, true);
      // It is not lost, but late.
      if (parked?.waitsUntil) open.push(message);
      if (parked) return;
      const pause = openPauseOf(webhook);
      if (pause && now - Date.parse(message.dueAt) >= lostAfterMs) return park(context, message, pause.from);
      open.push(message);
      if (!isOverdue(webhook, message, now)) return;
      lost.push(message);
      if (!mayWait(webhook) && isLost(message, now, webhook)) found.missing += 1;
    }),
  );
  const late = open.filter(({ dueAt }) => Date.parse(dueAt) <= now);
  await addWaits(
    context,
    found.waits,
    late.map((message) => ({ message, lateMs: now - Date.parse(message.dueAt) })),
  );
  await sendAttemptMessages(context, lost);
  found.sent += lost.length;
  return new Set(open.map(({ eventId }) => eventId as string));
}
