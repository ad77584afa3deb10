import * as v from 'valibot';

/** The errors that JavaScript throws for a value of an unexpected type or form. */
const mistaken = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Returns whether an error will be the same at each retry: an input that cannot be read, or an item that the table rejects.
 * Other errors may pass, by themselves or with the next deployment: a network failure, throttling, a missing permission.
 */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The SDK throws a SyntaxError for an invalid response of AWS, such as the page of a proxy. The next one may be valid.
  if ('$response' in error && error.name !== 'ValidationException') return false;
  return mistaken.some((kind) => error instanceof kind) || v.isValiError(error) || error.name === 'ValidationException';
}
