import { createHmac } from 'node:crypto';

/** What is sent of a delivery in one attempt. */
export type Signable = { event: string; deliveryId: string; sentAt: number; body: string };

/**
 * The headers of an attempt. With a secret also its signatures: ours over the raw
 * body, and beside it those of Standard Webhooks for receivers with a ready library. Without one there is none of any
 * kind, for what is signed with an empty key anybody can forge.
 *
 * @param sentAt the attempt's moment, in milliseconds since 1970
 */
export function deliveryHeaders(
  { event, deliveryId, sentAt, body }: Signable,
  secret?: string,
): Record<string, string> {
  const seconds = String(Math.floor(sentAt / 1000));
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Crewboard-Webhooks/1',
    'X-Service-Event': event,
    'X-Service-Delivery': deliveryId,
    'X-Service-Timestamp': seconds,
  };
  if (!secret) return headers;
  const standard = createHmac('sha256', standardKey(secret)).update(`${deliveryId}.${seconds}.${body}`);
  return {
    ...headers,
    'X-Service-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard.digest('base64')}`,
  };
}

/** The key of a Standard Webhooks signature: the base64 part of a `whsec_…` secret, else the secret's own bytes. */
function standardKey(secret: string): Buffer {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  // A single letter is no byte, and what is signed with an empty key anybody can forge.
  return key.length > 0 ? key : Buffer.from(secret);
}
