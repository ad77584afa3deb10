import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** The errors of requests that may have been processed in a try whose response was lost. */
const afterLostResponse = new WeakSet<object>();

/** Error codes of connections that were never opened: nothing was sent. */
const neverSent = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];

type Failed = { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };

/**
 * Adds a middleware to a client that notes lost responses, for `mayBeProcessed`. The SDK retries requests and
 * throws only the error of the last try. That error can be the effect of an earlier try that was processed.
 */
export function noteLostResponses({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => {
      // The SDK calls this function once for each request, and the returned function once for each try.
      let lost = false;
      return async (sent) => {
        try {
          return await next(sent);
        } catch (error) {
          lost = noteLostResponse(error, lost);
          throw error;
        }
      };
    },
    { step: 'finalizeRequest', priority: 'low', name: 'noteLostResponses' },
  );
}

/**
 * Notes and returns whether a request may have been processed, by the error of its last try.
 *
 * @param before whether an earlier try may have been processed
 */
export function noteLostResponse(error: unknown, before = false): boolean {
  const lost = before || isLost(error as Failed);
  if (lost) afterLostResponse.add(error as object);
  return lost;
}

/** Returns whether the request that failed with this error may have been processed in any of its tries. */
export function mayBeProcessed(error: unknown): boolean {
  return typeof error === 'object' && error !== null && afterLostResponse.has(error);
}

/** A status below 500 is a clear response. Without a status there was no response, or it could not be read. */
function isLost({ code = '', $metadata }: Failed): boolean {
  return ($metadata?.httpStatusCode ?? 500) >= 500 && !neverSent.includes(code);
}

/** Error codes of connections that broke or timed out. */
const broken = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/** Returns whether AWS was not reachable, did not respond in time, or failed: the same call may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code = '', $metadata } = error as Failed;
  return name === 'TimeoutError' || [...neverSent, ...broken].includes(code) || ($metadata?.httpStatusCode ?? 0) >= 500;
}
