import { Refusal } from '../contract/refusals.ts';

/** A request's time ran out. What it began may still be carried out, so its Idempotency-Key stays taken. */
export class OutOfTime extends Refusal {
  constructor() {
    super('unavailable', 'The answer took too long; whether it was carried out is not known.', [], {
      'Retry-After': '1',
    });
  }
}

/**
 * How long before Lambda ends a function its request is answered, in milliseconds. The answer, its log line and a
 * garbage collection have to fit; a function that is ended first answers 500 without the envelope.
 */
const answerEarlyMs = 500;

/** The hooks that answer a request whose time runs out. */
export const timeLimit = {
  timeoutEarlyInMillis: answerEarlyMs,
  timeoutEarlyResponse: (): never => {
    throw new OutOfTime();
  },
};
