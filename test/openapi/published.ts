import { openApiDocument } from '../../lib/openapi/document.ts';

/** A value of the document, read without a look at what it is. */
export type Json = { [key: string]: Json };

/** The document as `/openapi.json` serves it. */
export const document = openApiDocument() as unknown as Json;

/** A value of the document that is a text. */
export const textOf = (value: Json | undefined) => value as unknown as string | undefined;

/** What a reference leads to, or `undefined`. */
export function resolved(reference: string): Json | undefined {
  const keys = reference.replace(/^#\//, '').split('/');
  return keys.reduce<Json | undefined>((value, key) => value?.[key], document);
}

/** A value with what its references lead to in their place; what stands beside a reference stays. */
function followed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(followed);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as Json;
  const beside = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, followed(inner)]));
  return $ref ? { ...(followed(resolved(textOf($ref) as string)) as Json), ...beside } : beside;
}

const whole = followed(document) as Json;

/** What stands at a path of keys in the document, references followed. */
export function at(...path: string[]): Json {
  return path.reduce((value, key) => value[key] as Json, whole);
}

/** Every object in a value, the value itself included. */
export function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value as Json;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

/** The schema of what is sent. */
export const bodyOf = (path: string, method: string) =>
  at('paths', path, method, 'requestBody', 'content', 'application/json', 'schema');
/** The fields of what is answered. */
export const answerOf = (path: string, method: string, status: string) =>
  at('paths', path, method, 'responses', status, 'content', 'application/json', 'schema', 'properties');

/** A parameter of an operation, wherever it is sent. */
export function parameterOf(path: string, method: string, name: string): unknown {
  return Object.values(at('paths', path, method, 'parameters')).find((parameter) => textOf(parameter.name) === name);
}

/** The codes that a refused answer can carry. */
export function codesOf(path: string, method: string, status: string): string[] {
  const { error } = answerOf(path, method, status) as { error: Json };
  const { code } = error.properties as { code: { enum: string[] } } & Json;
  return [...code.enum];
}
