import { timestamp } from '../contract/ids.ts';
import type { PublicEvent } from '../contract/webhooks/events.ts';

/** An event and the id of its delivery to one webhook. */
export type DeliveredEvent = { deliveryId: string; event: PublicEvent['event']; data: unknown };

/**
 * Returns the body of an attempt, which is the same for the same delivery and time.
 *
 * @param sentAt the time of the attempt (Unix time, in ms)
 */
export function deliveryBody({ deliveryId, event, data }: DeliveredEvent, sentAt: number): string {
  return JSON.stringify({ event, deliveryId, timestamp: timestamp(sentAt), data });
}
