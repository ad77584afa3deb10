import { createHash } from 'node:crypto';
import { ulidFrom } from '../contract/ids.ts';

/** What makes an event the one that it is: a change of an item and the event's name. */
export type EventOrigin = { item: string; version: number; event: string };

/**
 * The id of an event: a ULID of the change's time and the first 80 bits of a SHA-256 of its origin. A change that is read
 * again makes the same ids, and so no second event and no second delivery.
 *
 * @param changedAt the change's time, in milliseconds since 1970
 */
export function eventIdOf(changedAt: number, { item, version, event }: EventOrigin): string {
  return `ev_${derived(changedAt, [item, version, event])}`;
}

/** The id of an event's delivery to a webhook, made likewise. */
export function deliveryIdOf(
  changedAt: number,
  { item, version, event, webhookId }: EventOrigin & { webhookId: string },
): string {
  return `dlv_${derived(changedAt, [item, version, event, webhookId])}`;
}

function derived(changedAt: number, origin: readonly (string | number)[]): string {
  return ulidFrom(changedAt, createHash('sha256').update(JSON.stringify(origin)).digest());
}
