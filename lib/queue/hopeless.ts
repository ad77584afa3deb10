import * as v from 'valibot';

/** What JavaScript itself throws where a value is not what the code takes it for. */
const mistaken = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Whether something failed that will fail the same way each time: what cannot be read, or what the table does not take
 * as an item. Anything else may pass, by itself or with the next deployment, so it is worth another try: a network, a
 * table that throttles, a missing right.
 */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // An answer of AWS that cannot be read, such as a proxy's page, is a SyntaxError of the SDK's: the next may be whole.
  if ('$response' in error && error.name !== 'ValidationException') return false;
  return mistaken.some((kind) => error instanceof kind) || v.isValiError(error) || error.name === 'ValidationException';
}
