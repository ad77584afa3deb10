import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** The errors of requests of which a try may have been carried out although no answer to it came. */
const afterLostAnswer = new WeakSet<object>();

/** Codes of connections that were never made: nothing was sent. */
const neverSent = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];

type Failed = { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };

/**
 * Notes for each request whether one of its tries may have been carried out without an answer. The SDK tries again by
 * itself and throws the error of its last try only, which may be of the write that an earlier try has made.
 */
export function noteLostAnswers({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => {
      // The SDK calls this once for each request, and what it returns once for each try.
      let lost = false;
      return async (sent) => {
        try {
          return await next(sent);
        } catch (error) {
          lost = noteLostAnswer(error, lost);
          throw error;
        }
      };
    },
    { step: 'finalizeRequest', priority: 'low', name: 'noteLostAnswers' },
  );
}

/**
 * Notes whether a request may have been carried out, by the error of its last try.
 *
 * @param before whether an earlier try may have been
 */
export function noteLostAnswer(error: unknown, before = false): boolean {
  const lost = before || isLost(error as Failed);
  if (lost) afterLostAnswer.add(error as object);
  return lost;
}

/** Whether the request that failed with this error may have been carried out, by its last try or an earlier one. */
export function mayHaveBeenCarriedOut(error: unknown): boolean {
  return typeof error === 'object' && error !== null && afterLostAnswer.has(error);
}

/** An answer with a status below 500 says what was done; without a status there was none, or it cannot be read. */
function isLost({ code = '', $metadata }: Failed): boolean {
  return ($metadata?.httpStatusCode ?? 500) >= 500 && !neverSent.includes(code);
}

/** Codes of connections that broke or timed out. */
const broken = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/** Whether AWS could not be reached, did not answer in time, or failed itself: the same call may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code = '', $metadata } = error as Failed;
  return name === 'TimeoutError' || [...neverSent, ...broken].includes(code) || ($metadata?.httpStatusCode ?? 0) >= 500;
}
