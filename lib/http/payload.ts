import { gzipSync } from 'node:zlib';
import type { ApiEvent, ApiResult } from './api-event.ts';
import { acceptsGzip } from './content-negotiation.ts';

/**
 * The most bytes of a function's response: the "invocation payload" of
 * docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html. A larger one is answered 500 by API Gateway.
 */
export const payloadLimit = 6 * 1024 * 1024;

/**
 * Returns the bytes of a function's response as Lambda counts them: the JSON that the runtime writes of it, in which the
 * text of the body is escaped a second time. A control character takes 6 bytes in the body and 7 here, a quote 2 and 4.
 */
export function payloadBytes(result: unknown): number {
  return Buffer.byteLength(JSON.stringify(result));
}

/** Whether Lambda passes a response on. */
export function isPassedOn(result: ApiResult): boolean {
  // A code unit takes 6 bytes at most, and headers are short: most responses need no count.
  return ((result.body?.length ?? 0) + 10_000) * 6 <= payloadLimit || payloadBytes(result) <= payloadLimit;
}

/** Returns a response as Lambda passes it on: as it is, else gzipped for a caller that takes that, else `undefined`. */
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
 * Returns how many items of a list, from its first on, fit into a response.
 *
 * @param empty the response without an item
 */
export function fittingItems(items: readonly unknown[], empty: ApiResult): number {
  let left = payloadLimit - payloadBytes(empty);
  const tooMany = items.findIndex((item) => {
    // The text is quoted when it is measured by itself; in the body a comma follows it.
    left -= payloadBytes(JSON.stringify(item)) - 1;
    return left < 0;
  });
  return tooMany === -1 ? items.length : tooMany;
}
