import type { Endpoint } from '../../contract/endpoint.ts';
import { ApiError, outcomeUnknown } from '../../contract/errors.ts';

/**
 * The error of a request that exceeds its time limit. It may still be processed, so it keeps its lease on its
 * Idempotency-Key.
 */
export class RequestTimeout extends ApiError {
  constructor({ method }: Pick<Endpoint, 'method'>) {
    const known = method === 'GET' ? 'nothing was changed. Try again shortly.' : outcomeUnknown;
    super('unavailable', `The request took too long, and ${known}`, [], { 'Retry-After': '1' });
  }
}

/**
 * How long before the timeout of the function the error response is sent, in milliseconds. The response, its log line
 * and a garbage collection must fit into this time: after the timeout, API Gateway responds with 500 without the
 * envelope.
 */
const respondEarlyMs = 500;

/** Returns the middy options that end a request with `RequestTimeout` shortly before the timeout of its function. */
export function timeLimit(row: Endpoint) {
  return {
    timeoutEarlyInMillis: respondEarlyMs,
    timeoutEarlyResponse: (): never => {
      throw new RequestTimeout(row);
    },
  };
}
