/** A context, or why a text is none. Neither for a text without a character: an execution can have no context. */
type ReadContext = { context?: Record<string, unknown>; problem?: undefined } | { problem: string };

const tooLarge = 'Write numbers beyond ±9,007,199,254,740,991 as strings, or they would be changed.';

/** Reads the context that a person has written as JSON. */
export function contextOf(text: string): ReadContext {
  if (text.trim() === '') return {};
  try {
    const context: unknown = JSON.parse(text, (_, value: unknown) => {
      if (isChanged(value)) throw new RangeError(tooLarge);
      return value;
    });
    return typeof context === 'object' && context !== null && !Array.isArray(context)
      ? { context: context as Record<string, unknown> }
      : { problem: 'Write a JSON object, such as {"audience": "new developers"}.' };
  } catch (error) {
    return { problem: error instanceof RangeError ? error.message : `This is not JSON: ${(error as Error).message}` };
  }
}

/** Returns the text of a context, for the same form. */
export function textOfContext(context: Record<string, unknown> | undefined): string {
  return context === undefined ? '' : JSON.stringify(context, null, 2);
}

/** Returns whether JSON may have had another number than the parser returns. The API rejects it too, but sees it too late. */
function isChanged(value: unknown): boolean {
  if (typeof value !== 'number') return false;
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}
