/** The maximum nesting depth of objects and arrays in a free-form JSON object of a request. */
export const maxDepth = 32;

/** Returns whether a value is an object or an array. */
export function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns whether objects and arrays are nested deeper than `most` levels. It is not recursive: a value can be nested deeper
 * than the call stack, which `JSON.stringify` and most functions on objects cannot process.
 */
export function isDeeper(value: unknown, most: number): boolean {
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === most) return true;
    level = level.flatMap((one): unknown[] => Object.values(one)).filter(isNested);
  }
  return false;
}
