import type { Schema } from '../contract/shapes.ts';

/** A part of a JSON Schema. */
type Json = Record<string, unknown>;

/** The argument of tools that names the fields to clear. */
export const clearing = 'clear';

/** Returns whether a request can clear a field, by `null`. A model does so by `clear`. */
export function isClearable(field: Schema | undefined): field is Schema & { wrapped: Schema } {
  return field?.type === 'nullish';
}

/**
 * The highest limit of a length that model servers accept. llama.cpp, and servers that use it, make a grammar of a schema, in
 * which 2,000 repetitions are too many, and reject the whole request.
 */
const highestLength = 1_999;
const lengths = ['maxLength', 'maxItems', 'minLength', 'minItems'];

/** Returns whether model servers can make a grammar of a pattern: only whole texts, and no classes of characters. */
const isPortable = (pattern: string) => /^\^.*\$$/s.test(pattern) && !/\\[a-zA-Z]/.test(pattern);

/**
 * Returns a JSON Schema as models get it: without the limits that some servers cannot read. They reject the request with all
 * its tools. A call is checked with all limits nevertheless.
 */
export function portableSchema(schema: Json): Json {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      if (keyword === 'pattern' && !isPortable(value as string)) return [];
      if (lengths.includes(keyword) && (value as number) > highestLength) return [];
      if (keyword === 'properties') return [[keyword, mapped(value as Record<string, Json>)]];
      return [[keyword, isSchemas(keyword) ? portable(value) : value]];
    }),
  );
}

/** Returns whether a keyword has a schema, or a list of them. Others, such as `examples`, have any value. */
const isSchemas = (keyword: string) =>
  ['items', 'prefixItems', 'additionalProperties', 'propertyNames', 'anyOf', 'oneOf', 'allOf', 'not'].includes(keyword);

const portable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(portable);
  return typeof value === 'object' && value !== null ? portableSchema(value as Json) : value;
};

const mapped = (properties: Record<string, Json>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, portableSchema(schema)]));
