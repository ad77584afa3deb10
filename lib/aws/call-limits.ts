/**
 * The limits of calls to AWS services. Without them the SDK waits without limit: a call without a response would block
 * its function and its batch until Lambda stops it.
 */

/** The limits of one call: the number of tries by the SDK, and the longest time of a try in milliseconds. */
export type CallLimits = { tries: number; tryMs: number };

/**
 * The limits of calls in AWS: these services respond within milliseconds.
 *
 * The tightest time is the lease of a delivery, 20 s. Between its start and the end of the attempt a worker waits for
 * DynamoDB (the lease), KMS (the secret) and the receiver (10 s). The longest pauses of the SDK between tries are 25
 * and 50 ms (DynamoDB), 50 ms (KMS), 50 and 100 ms (SQS):
 *
 * | Call | Longest time of all tries |
 * |---|---|
 * | DynamoDB | 3 × 2 s + 75 ms = 6.1 s |
 * | KMS | 2 × 1.5 s + 50 ms = 3.1 s |
 * | the receiver | 10 s |
 * | total | 19.2 s of 20 s |
 *
 * All other times are longer: 29 s for a request, 30 s for a lease of an execution and for a batch of deliveries, at
 * least 60 s for the other functions. `timeLimit` of `lib/http` ends a request that waits for several services.
 *
 * A throttled try gets its response immediately. The SDK then pauses for up to 1 s, and for up to 2 s before a third try.
 */
export const callLimits = {
  dynamodb: { tries: 3, tryMs: 2_000 },
  kms: { tries: 2, tryMs: 1_500 },
  sqs: { tries: 3, tryMs: 2_000 },
} as const satisfies Record<string, CallLimits>;

/**
 * The limits of calls to local engines, which share the processor and the disk of one machine with the service. A
 * stopped engine refuses connections immediately, so only a busy engine is slow: 1,000 concurrent calls can take more than
 * 5 s.
 */
const localCallLimits: CallLimits = { tries: 3, tryMs: 30_000 };

/** Returns the limits of calls to a service: in AWS, or to a local engine if there is an endpoint. */
export function callLimitsOf(service: keyof typeof callLimits, endpoint: string | undefined): CallLimits {
  return endpoint ? localCallLimits : callLimits[service];
}

/**
 * Returns the configuration of an AWS client that limits its calls. `requestTimeout` covers the connection and the wait
 * for the first byte of the response. `socketTimeout` covers a response that stops midway. Without
 * `throwOnRequestTimeout` a timeout only logs a warning (`set-request-timeout.js` of @smithy/node-http-handler).
 */
export function callLimitConfig({ tries, tryMs }: CallLimits) {
  return {
    maxAttempts: tries,
    requestHandler: { requestTimeout: tryMs, throwOnRequestTimeout: true, socketTimeout: tryMs },
  };
}
