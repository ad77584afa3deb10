import { expect } from 'vitest';
import { openApiDocument } from '../../lib/contract/document.ts';

/** A value of the document, read without a look at what it is. */
export type Json = { [key: string]: Json };

/** The document as `/openapi.json` serves it. */
export const document = openApiDocument() as unknown as Json;

/** A value of the document that is a text. */
export const textOf = (value: Json | undefined) => value as unknown as string | undefined;

/** What stands at a path of keys in the document, references followed. */
export function at(...path: string[]): Json {
  return path.reduce((value, key) => {
    const reference = textOf(value[key]?.$ref);
    return reference ? resolved(reference) : (value[key] as Json);
  }, document);
}

/** What a reference leads to. */
export function resolved(reference: string): Json {
  expect(reference).toMatch(/^#\//);
  return at(...reference.slice(2).split('/'));
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
  return Object.values(at('paths', path, method, 'parameters'))
    .map((parameter) => (parameter.$ref ? resolved(textOf(parameter.$ref) as string) : parameter))
    .find((parameter) => textOf(parameter.name) === name);
}
