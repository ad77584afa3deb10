import { openApiDocument } from '../../lib/openapi/document.ts';

/** An object of the document, untyped. */
export type Json = { [key: string]: Json };

/** The document as `/openapi.json` serves it. */
export const document = openApiDocument() as unknown as Json;

/** Casts a value of the document to a string. */
const textOf = (value: Json | undefined) => value as unknown as string | undefined;

/** Returns the value of a reference, or `undefined` if there is none. */
function resolved(reference: string): Json | undefined {
  const keys = reference.replace(/^#\//, '').split('/');
  return keys.reduce<Json | undefined>((value, key) => value?.[key], document);
}

/** Returns a value with all references resolved; properties next to a reference stay. */
function withResolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withResolved);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Json;
  const beside = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, withResolved(inner)]));
  return $ref ? { ...(withResolved(resolved(textOf($ref) as string)) as Json), ...beside } : beside;
}

const whole = withResolved(document) as Json;

/** Returns the value at a path of keys in the document, with references resolved. */
export function at(...path: string[]): Json {
  return path.reduce((value, key) => value[key] as Json, whole);
}
