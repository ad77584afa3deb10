import { firstBytes, type Outcome } from '../../sender/sender.ts';
import type { SentRequest } from '../../table/deliveries/attempt-items.ts';
import type { KeptResponse } from '../../table/deliveries/responses.ts';
import type { SignedPost } from './signed-post.ts';

/** The maximum number of bytes that are kept of a response body, as UTF-8. */
const keptBodyBytes = 4 * 1024;

/** The maximum numbers of response headers that are kept, and of the bytes of their names and values. */
const keptHeaders = 50;
const keptHeaderBytes = 2 * 1024;

/** The headers of a response whose values give access to the receiver, and the text that is kept instead. */
const secretHeaders: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2']);
const hiddenValue = '(not stored)';

/**
 * Returns the parts of an attempt that are stored for the details of its delivery. A response is stored if it has a body
 * or the attempt failed; the response to most attempts, an empty 2xx, takes no item.
 */
export function exchangeOf(post: SignedPost, outcome: Outcome): { sent: SentRequest; response?: KeptResponse } {
  const { httpStatus, responseBody, responseHeaders = [], responseCut, address, phases, keepAlive, error } = outcome;
  const kept = httpStatus > 0 && (responseBody !== '' || error !== undefined);
  const sent = {
    at: post.sentAt,
    host: URL.parse(post.url)?.host ?? '',
    signed: 'webhook-signature' in post.headers,
    ...(address !== undefined && { ip: address }),
    ...phases,
    ...(keepAlive && { keepAlive }),
    ...(httpStatus > 0 && { kept }),
  };
  if (!kept) return { sent };
  const body = firstBytes(responseBody, keptBodyBytes);
  const truncated = body.length < responseBody.length || responseCut === true;
  return { sent, response: { headers: firstHeaders(responseHeaders), body, truncated } };
}

/** Returns the first headers of a response by their names in lower case. One that does not fit is left out. */
function firstHeaders(received: readonly (readonly [string, string])[]): Record<string, string> {
  const headers = new Map<string, string>();
  let remaining = keptHeaderBytes;
  for (const [written, sent] of received) {
    const name = written.toLowerCase();
    const value = secretHeaders.has(name) ? hiddenValue : sent;
    const before = headers.get(name);
    if ((before === undefined && headers.size === keptHeaders) || before === hiddenValue) continue;
    const bytes = Buffer.byteLength(before === undefined ? name + value : `, ${value}`);
    if (bytes > remaining) continue;
    remaining -= bytes;
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
