import { ApiError, outcomeUnknown } from '../../contract/errors.ts';
import { mayHaveChanged } from './current-request.ts';
import { isOutage } from './lost-responses.ts';

/** It is not known whether the request was processed: a response of AWS was lost, or a part of it was processed. */
export class OutcomeUnknown extends ApiError {
  constructor(cause?: unknown) {
    super('unavailable', `The service is busy, and ${outcomeUnknown}`, [], { 'Retry-After': '1' });
    this.cause = cause;
  }
}

/**
 * Creates the error of a service that cannot read or write now, although nothing is wrong with the request. It is
 * `OutcomeUnknown` if the request may have changed something.
 *
 * @param cause for the log
 */
export function unavailable(cause?: unknown): ApiError {
  if (mayHaveChanged()) return new OutcomeUnknown(cause);
  const error = new ApiError('unavailable', 'The service is busy; nothing was changed. Try again shortly.', [], {
    'Retry-After': '1',
  });
  error.cause = cause;
  return error;
}

/** Returns whether DynamoDB throttled a request, after the SDK's own retries. */
export function isThrottling(error: unknown): boolean {
  const names = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];
  return error instanceof Error && names.includes(error.name);
}

/** Returns the error that a failed request means to callers: `unavailable` after throttling or an outage, or itself. */
export function asUnavailable(error: unknown): unknown {
  return isThrottling(error) || isOutage(error) ? unavailable(error) : error;
}
