/**
 * How long functions wait for AWS services. Without these limits the SDK waits for ever: a call that is never answered
 * holds its function, and its batch, until Lambda ends it.
 */

/** The limits of one call: the tries that the SDK makes, and how long each may take in milliseconds. */
export type CallLimits = { tries: number; tryMs: number };

/**
 * The limits of calls in AWS, where each of these services answers in milliseconds.
 *
 * The shortest time that calls have to fit is the lease of a delivery, 20 s. Between its start and the end of the
 * attempt a worker waits for DynamoDB (the lease), for KMS (the secret) and for the receiver (10 s). The SDK pauses
 * between tries for at most 25 and 50 ms (DynamoDB), 50 ms (KMS), 50 and 100 ms (SQS):
 *
 * | Call | All its tries |
 * |---|---|
 * | DynamoDB | 3 × 2 s + 75 ms = 6.1 s |
 * | KMS | 2 × 1.5 s + 50 ms = 3.1 s |
 * | the receiver | 10 s |
 * | together | 19.2 s of 20 s |
 *
 * Every other time is longer: 29 s for a request, 30 s for a lease of an execution and for a batch of deliveries,
 * 60 s and more for the other functions. A request that waits for one service after another is answered by
 * `timeLimit` of `lib/http`.
 *
 * A try that is throttled is answered at once; the SDK then pauses for up to 1 s, and 2 s before a third try.
 */
export const callLimits = {
  dynamodb: { tries: 3, tryMs: 2_000 },
  kms: { tries: 2, tryMs: 1_500 },
  sqs: { tries: 3, tryMs: 2_000 },
} as const satisfies Record<string, CallLimits>;

/**
 * The limits of calls to local engines, which share one machine's processor and disk with everything else. An engine
 * that has ended refuses connections at once, so only a busy one takes long: 1,000 calls at the same time wait for one
 * another for more than 5 s on a busy machine.
 */
const localCallLimits: CallLimits = { tries: 3, tryMs: 30_000 };

/** The limits of calls to a service: in AWS, or to a local engine where an endpoint is given. */
export function callLimitsOf(service: keyof typeof callLimits, endpoint: string | undefined): CallLimits {
  return endpoint ? localCallLimits : callLimits[service];
}

/**
 * The part of an AWS client's configuration that holds its calls to limits. `requestTimeout` covers the connection and
 * the wait for the answer's first byte, `socketTimeout` an answer that stops midway. `requestTimeout` alone would only
 * log a warning (`set-request-timeout.js` of @smithy/node-http-handler).
 */
export function heldTo({ tries, tryMs }: CallLimits) {
  return {
    maxAttempts: tries,
    requestHandler: { requestTimeout: tryMs, throwOnRequestTimeout: true, socketTimeout: tryMs },
  };
}
