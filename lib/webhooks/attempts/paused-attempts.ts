import { inGroups } from '../../aws/in-groups.ts';
import type { Context } from '../../context/context.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { unlistParked } from '../../table/deliveries/attempt-log.ts';
import {
  listParkedAttempt,
  type ParkedAttempt,
  parkAttempt,
  parkedAtOnce,
  readParkedAttempts,
  removeParkedAttempt,
} from '../../table/deliveries/parked-attempts.ts';
import { graceMs } from '../../table/lists/due.ts';
import { isPaused, isPausedAt, type Pausable } from '../../table/webhooks/pauses.ts';
import { type Release, removeRelease } from '../../table/webhooks/releases.ts';
import { readWebhook, type StoredWebhook } from '../../table/webhooks/webhooks.ts';
import { sendAttemptMessages } from './attempt-messages.ts';
import { isBookingOver, withoutBooking } from './bookings.ts';

/**
 * How long after an event a pause that has not ended decides that the event is skipped, in milliseconds. The request that
 * ends a pause reads the clock up to 30 s before its write, and clocks differ by up to 60 s: before, the event may be one
 * from after the end.
 */
export const skippedAfterMs = 90_000;

/** Returns whether an attempt is the first one of an event that its webhook skips, and that no caller has requested. */
export function isSkipped(webhook: Pausable, message: DeliveryMessage, eventTime = eventTimeOf(message)): boolean {
  const { attempt, redelivery, scheduleStart } = message;
  const isRequested = redelivery === true || scheduleStart !== undefined;
  return attempt === 1 && !isRequested && isPausedAt(webhook, eventTime);
}

/**
 * Parks an attempt, and then removes it from the sweeper's index. The pause may have ended since it was read, and the
 * sweeper may have released the parked attempts already. So the webhook is read again, and an attempt to an active one is
 * released here. Only after that nothing else lists the attempt: if a worker is interrupted, its message comes again, or
 * the sweeper sends it.
 *
 * @param pausedFrom the start of the pause; ISO 8601
 */
export async function park(context: Context, message: DeliveryMessage, pausedFrom: string): Promise<void> {
  const parked = await parkAttempt(context, message, pausedFrom);
  const webhook = await readWebhook(context, message.organization, message.webhookId);
  if (!webhook) await removeParkedAttempt(context, message);
  else if (!isPaused(webhook)) await release(context, webhook, [parked]);
  await unlistParked(context, message);
}

/**
 * Lists all parked attempts of a webhook in the sweeper's index, sends their messages, and then removes the release. Booked
 * times that have ended are removed: these attempts are made at once, or book again. Only removes the attempts if the webhook
 * is deleted, and only removes the release if the webhook is paused again. A call that is interrupted is repeated by the next
 * sweep of the release, without the attempts that are listed. An attempt whose message is sent twice is made once.
 *
 * @param hasTime whether there is time for another step; the next sweep of the release does the rest
 * @returns the number of sent messages
 */
export async function releaseParked(
  context: Context,
  ordered: Release,
  hasTime: () => boolean = () => true,
): Promise<number> {
  const { organization, webhookId } = ordered;
  const webhook = await readWebhook(context, organization, webhookId);
  let sent = 0;
  if (!webhook || !isPaused(webhook)) {
    for await (const some of inGroups(readParkedAttempts(context, organization, webhookId), parkedAtOnce)) {
      if (!hasTime()) return sent;
      if (webhook) sent += await release(context, webhook, some);
      else await Promise.all(some.map(({ message }) => removeParkedAttempt(context, message)));
    }
  }
  await removeRelease(context, ordered);
  return sent;
}

/**
 * Lists parked attempts in the sweeper's index, and sends their messages. The messages of listed attempts were sent, or the
 * sweeper sends them, unless they wait for a booked time that has ended.
 *
 * @returns the number of sent messages
 */
async function release(context: Context, webhook: StoredWebhook, parked: readonly ParkedAttempt[]): Promise<number> {
  const listedFrom = timestamp(context.clock() + graceMs);
  const waits = ({ message, listed }: ParkedAttempt) => !listed || isBookingOver(message, webhook);
  const isSent = await Promise.all(parked.map((one) => waits(one) && listParkedAttempt(context, one, listedFrom)));
  const messages = parked.filter((_, at) => isSent[at]).map(({ message }) => withoutBooking(message));
  await sendAttemptMessages(context, messages);
  return messages.length;
}

/** Returns the time of the event of an attempt (Unix time, in ms); in messages of old versions, the time of the delivery. */
export function eventTimeOf({ eventId, deliveryId }: DeliveryMessage): number {
  return timeOf(ulidOf(eventId ?? deliveryId));
}
