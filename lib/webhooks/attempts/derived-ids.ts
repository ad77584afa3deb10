import { hash } from 'node:crypto';
import { ulidFrom } from '../../contract/ids.ts';

/** The origin of an event: the version of an item and the name of the event. */
export type EventOrigin = { item: string; version: number; event: string };

/**
 * Returns the id of an event: a ULID of the time of the change and the first 80 bits of the SHA-256 of its origin. A change
 * that is read again has the same ids, so it makes no second event and no second delivery.
 *
 * @param changedAt the change's time (Unix time, in ms)
 */
export function eventIdOf(changedAt: number, { item, version, event }: EventOrigin): string {
  return `ev_${derived(changedAt, [item, version, event])}`;
}

/** Returns the id of the delivery of an event to a webhook, derived in the same way. */
export function deliveryIdOf(
  changedAt: number,
  { item, version, event, webhookId }: EventOrigin & { webhookId: string },
): string {
  return `dlv_${derived(changedAt, [item, version, event, webhookId])}`;
}

/** Returns a whole number from 0 to 36 ** 4 from the random end of a delivery id. */
export const randomOf = (deliveryId: string): number => Number.parseInt(deliveryId.slice(-4), 36);

function derived(changedAt: number, origin: readonly (string | number)[]): string {
  return ulidFrom(changedAt, hash('sha256', JSON.stringify(origin), 'buffer'));
}
