/** Returns all patterns and limits of lengths in a schema. */
const limitsIn = (schema: object): [string, unknown][] =>
  Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => [
    ...(['pattern', 'maxLength', 'maxItems'].includes(keyword) && typeof value !== 'object'
      ? ([[keyword, value]] as [string, unknown][])
      : []),
    ...(typeof value === 'object' && value !== null ? limitsIn(value) : []),
  ]);

/** Returns whether llama.cpp, which LM Studio uses too, can make a grammar of a schema. Otherwise it rejects the request. */
export const hasGrammar = (schema: object): boolean =>
  limitsIn(schema).every(([keyword, value]) =>
    keyword === 'pattern' ? /^\^[^\\]*\$$/.test(value as string) : Number(value) < 2_000,
  );
