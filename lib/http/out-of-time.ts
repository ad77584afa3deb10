import { Refusal } from '../contract/refusals.ts';

/** A request's time ran out. What it began may still be carried out, so its Idempotency-Key stays taken. */
export class OutOfTime extends Refusal {
  constructor() {
    super('unavailable', 'The answer took too long; whether it was carried out is not known.', [], {
      'Retry-After': '1',
    });
  }
}

/** Ends a request whose time ran out. */
export function outOfTime(): never {
  throw new OutOfTime();
}
