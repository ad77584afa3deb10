/**
 * Stub of the SDK's adaptive retries, with their rate limiter: the clients have the standard retries or none.
 *
 * @throws `Error` where it is constructed
 */
export class AdaptiveRetryStrategy {
  constructor() {
    throw new Error('Adaptive retries are not bundled; remove AWS_RETRY_MODE from the environment.');
  }
}
