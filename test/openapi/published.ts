import { openApiDocument } from '../../lib/openapi/document.ts';

/** An object of the document, untyped. */
export type Json = { [key: string]: Json };

/** The document as `/openapi.json` serves it. */
export const document = openApiDocument() as unknown as Json;

/** Casts a value of the document to a string. */
export const textOf = (value: Json | undefined) => value as unknown as string | undefined;

/** Returns the value of a reference, or `undefined` if there is none. */
export function resolved(reference: string): Json | undefined {
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

/** Yields all objects in a value, including the value itself. */
export function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value as Json;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

/** Returns the schema of a request body. */
export const bodyOf = (path: string, method: string) =>
  at('paths', path, method, 'requestBody', 'content', 'application/json', 'schema');
/** Returns the schemas of the fields of a response. */
export const responseOf = (path: string, method: string, status: string) =>
  at('paths', path, method, 'responses', status, 'content', 'application/json', 'schema', 'properties');

/** Returns a parameter of an operation: in the path, the query or a header. */
export function parameterOf(path: string, method: string, name: string): unknown {
  return Object.values(at('paths', path, method, 'parameters')).find((parameter) => textOf(parameter.name) === name);
}

/** Returns the error codes of a response. */
export function codesOf(path: string, method: string, status: string): string[] {
  const { error } = responseOf(path, method, status) as { error: Json };
  const { code } = error.properties as { code: { enum: string[] } } & Json;
  return [...code.enum];
}
