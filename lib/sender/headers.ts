/**
 * The headers of attempts, without their signatures. The details of a delivery compute them again from what is stored of
 * an attempt (`lib/webhooks/delivery-details.ts`), so a change of them also changes what details of earlier attempts show.
 */

/** One attempt of a delivery, without its body. */
export type Attempted = { event: string; deliveryId: string; sentAt: number };

/**
 * Returns the headers of an attempt without its signatures.
 *
 * @param sentAt the time of the attempt (Unix time, in ms)
 * @param signed whether the attempt is signed; if it is, it has the headers of Standard Webhooks
 */
export function unsignedHeaders({ event, deliveryId, sentAt }: Attempted, signed: boolean): Record<string, string> {
  const seconds = headerTime(sentAt);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Crewboard-Webhooks/1',
    'X-Service-Event': event,
    'X-Service-Delivery': deliveryId,
    'X-Service-Timestamp': seconds,
    ...(signed && { 'webhook-id': deliveryId, 'webhook-timestamp': seconds }),
  };
}

/**
 * Returns all headers of a request: `Host` first (RFC 9110, section 7.2), then these, then the headers that depend on
 * the connection and the body.
 *
 * @param body absent if it is no longer known; `Content-Length` is then absent too
 * @param keepAlive whether the receiver is asked to keep the connection for the next attempt
 */
export function requestHeaders(
  headers: Record<string, string>,
  host: string,
  { body, keepAlive }: { body?: string | undefined; keepAlive: boolean },
): Record<string, string> {
  return {
    Host: host,
    ...headers,
    // Some firewalls answer 403 to a request without it.
    Accept: '*/*',
    // Without it, a response may have any coding, and the history would show compressed bytes.
    'Accept-Encoding': 'identity',
    ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
    Connection: keepAlive ? 'keep-alive' : 'close',
  };
}

/** Returns a time in Unix seconds, as headers have it. */
export const headerTime = (sentAt: number) => String(Math.floor(sentAt / 1000));
