import { createHash } from 'node:crypto';
import { ulidFrom } from '../contract/ids.ts';

/** What makes a delivery the one that it is: a change of an item, an event of it and a webhook that hears it. */
export type DeliveryOrigin = { item: string; version: number; event: string; webhookId: string };

/**
 * The id of a delivery: a ULID of the change's time and the first 80 bits of a SHA-256 of its origin. A change that is
 * read again makes the same ids and so no second delivery.
 *
 * @param changedAt the change's time, in milliseconds since 1970
 */
export function deliveryIdOf(changedAt: number, { item, version, event, webhookId }: DeliveryOrigin): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([item, version, event, webhookId]))
    .digest();
  return `dlv_${ulidFrom(changedAt, hash)}`;
}
