import type { Endpoint } from '../contract/endpoint.ts';
import { ApiError, outcomeUnknown } from '../contract/errors.ts';

/** A request's time ran out. What it began may still be carried out, so its Idempotency-Key stays taken. */
export class RequestTimeout extends ApiError {
  constructor({ method }: Pick<Endpoint, 'method'>) {
    const known = method === 'GET' ? 'nothing was changed. Try again shortly.' : outcomeUnknown;
    super('unavailable', `The request took too long, and ${known}`, [], { 'Retry-After': '1' });
  }
}

/**
 * How long before Lambda ends a function its request is answered, in milliseconds. The answer, its log line and a
 * garbage collection have to fit; a function that is ended first answers 500 without the envelope.
 */
const answerEarlyMs = 500;

/** The hooks that answer a request to a row whose time runs out. */
export function timeLimit(row: Endpoint) {
  return {
    timeoutEarlyInMillis: answerEarlyMs,
    timeoutEarlyResponse: (): never => {
      throw new RequestTimeout(row);
    },
  };
}
