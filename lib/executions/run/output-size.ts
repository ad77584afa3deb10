/** The longest output in bytes. A transaction takes 4 MB. */
const longestOutputBytes = 1_000_000;

/**
 * The longest output in a response, in bytes as JSON. A response of the API takes 6 MB, with an input of up to 0.7 MB
 * (`lib/http/middleware/payload.ts`). Only an output of mostly control characters, which take 7 bytes each, exceeds this limit and not
 * the one above.
 */
export const longestOutputPayload = 5_000_000;

/** The error of an execution whose output is too long. */
export const answerTooLong = 'The answer of the model was longer than it may be.';

/** Returns whether an output is longer than an execution can store or a response can have. */
export function isTooLong(output: string): boolean {
  if (Buffer.byteLength(output) > longestOutputBytes) return true;
  return Buffer.byteLength(JSON.stringify(JSON.stringify(output))) > longestOutputPayload;
}
