import { createHmac } from 'node:crypto';

/** One attempt of a delivery. */
export type Signable = { event: string; deliveryId: string; sentAt: number; body: string };

/**
 * Returns the headers of an attempt. With a secret they include two signatures: `X-Service-Signature` over the raw body, and
 * that of Standard Webhooks, for receivers that use one of its libraries. Without a secret there is no signature, because
 * anyone can forge one with an empty key.
 *
 * @param sentAt the time of the attempt (Unix time, in ms)
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

/** Returns the key of a Standard Webhooks signature: the base64 part of a `whsec_…` secret, or the bytes of the secret. */
function standardKey(secret: string): Buffer {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  // A single base64 letter decodes to no byte, and anyone can forge a signature with an empty key.
  return key.length > 0 ? key : Buffer.from(secret);
}
