import { gzipSync } from 'node:zlib';
import type { ApiEvent, ApiResult } from '../api-event.ts';
import { acceptsGzip } from './content-negotiation.ts';

/**
 * The maximum size of the response of a Lambda function, in bytes: the "invocation payload" of
 * docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html. For a larger response, API Gateway responds with
 * 500.
 */
export const payloadLimit = 6 * 1024 * 1024;

/**
 * Returns the size of the response of a function as Lambda counts it: the bytes of its JSON, in which the body is
 * escaped a second time. A control character has 6 bytes in the body and 7 in this JSON, a quote has 2 and 4.
 */
export function payloadBytes(result: unknown): number {
  return Buffer.byteLength(JSON.stringify(result));
}

/** Returns whether a response is within the size limit of Lambda. */
export function isPassedOn(result: ApiResult): boolean {
  // A code unit has at most 6 bytes in the body, and headers are short: for most responses this estimate is enough.
  return ((result.body?.length ?? 0) + 10_000) * 6 <= payloadLimit || payloadBytes(result) <= payloadLimit;
}

/**
 * Returns a response that is within the size limit: unchanged, or gzipped if the caller accepts gzip, else `undefined`.
 */
export function fitted(event: ApiEvent, result: ApiResult): ApiResult | undefined {
  if (isPassedOn(result)) return result;
  if (!acceptsGzip(event)) return undefined;
  const gzipped: ApiResult = {
    ...result,
    headers: { ...result.headers, Vary: 'Accept-Encoding', 'Content-Encoding': 'gzip' },
    body: gzipSync(result.body ?? '').toString('base64'),
    isBase64Encoded: true,
  };
  return isPassedOn(gzipped) ? gzipped : undefined;
}

/**
 * Returns the number of items, starting with the first, that fit into a response.
 *
 * @param empty the response without items
 */
export function fittingItems(items: readonly unknown[], empty: ApiResult): number {
  let remainingBytes = payloadLimit - payloadBytes(empty);
  const tooMany = items.findIndex((item) => {
    // Measured alone, the text has two quotes; in the body it has one comma instead.
    remainingBytes -= payloadBytes(JSON.stringify(item)) - 1;
    return remainingBytes < 0;
  });
  return tooMany === -1 ? items.length : tooMany;
}
