import { ulid } from 'ulid';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import { deliveryHeaders } from '../../../lib/sender/signature.ts';
import { sampleOf } from '../../../lib/webhooks/samples.ts';

/** The secret that deliveries are signed with by default. */
export const secret = 'ein geheimes Wort: ü🚀';

export type Posted = { deliveryId: string; body: string; headers: Record<string, string> };

export const minutes = (count: number) => count * 60_000;

/** Values of a delivery that differ from the default. `change` is applied to the body before it is signed. */
type Given = {
  event?: EventName;
  sentAt?: number;
  key?: string;
  /** The old secret, during the overlap of a rotation. */
  previousKey?: string;
  deliveryId?: string;
  change?: (body: string) => string;
};

/** Returns a delivery as the service sends it, with non-ASCII text. */
export function delivery(given: Given = {}): Posted {
  const { event = 'task.created', sentAt = Date.now(), deliveryId = `dlv_${ulid()}`, change } = given;
  const { key = secret, previousKey } = given;
  const { data } = sampleOf(event, ulid, sentAt);
  const content = { event, deliveryId, timestamp: timestamp(sentAt), data: { ...data, note: 'Grüße 🚀' } };
  const text = JSON.stringify(content);
  const body = change ? change(text) : text;
  return { deliveryId, body, headers: deliveryHeaders({ event, deliveryId, sentAt, body }, key, previousKey) };
}

/** Returns a delivery whose body was changed after it was signed. */
export function tampered(change: (body: string) => string): Posted {
  const posted = delivery();
  return { ...posted, body: change(posted.body) };
}
