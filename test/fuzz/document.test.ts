import { expect, it } from 'vitest';
import { openApiDocument } from '../../lib/openapi/document.ts';
import { fuzzedDocument } from './document.ts';

type Json = { [key: string]: unknown };

/** Returns every schema of an object in a part of the document. */
function objectsIn(part: unknown): Json[] {
  if (typeof part !== 'object' || part === null) return [];
  const below = Object.values(part).flatMap(objectsIn);
  return 'properties' in part && 'type' in part ? [part as Json, ...below] : below;
}

it('closes every response, so that an undocumented field is found', () => {
  const published = openApiDocument();
  const { components, paths } = fuzzedDocument(published) as { components: Json; paths: Record<string, Json> };
  const open = objectsIn([components.schemas, components.responses, paths]).filter(
    ({ additionalProperties }) => additionalProperties === undefined,
  );
  expect(open).toEqual([]);
  expect(objectsIn(components.schemas).length).toBeGreaterThan(20);
  expect(openApiDocument()).toEqual(published);
});

it('keeps the patterns of short texts', () => {
  const text = { type: 'string', pattern: '\\S' };
  const short = { ...text, maxLength: 500 };
  const given = { paths: {}, components: { schemas: { short, long: { ...text, maxLength: 100_000 } } } };
  expect(fuzzedDocument(given).components).toEqual({
    schemas: { short, long: { type: 'string', maxLength: 100_000 } },
  });
});
