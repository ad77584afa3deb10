import { expect, it } from 'vitest';
import { eventNames } from '../../lib/contract/webhooks/events.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';
import { fieldNames } from '../values/field-names.ts';
import { at, document, type Json } from './published.ts';

// `npm run check` compares the document with docs/openapi.json, and the linter checks every example in it.

it('the document has no default in the body of a PATCH, since omitted fields do not change', () => {
  const patched = Object.entries(document.paths as Json).filter(([, { patch }]) => patch);
  expect(patched.length).toBeGreaterThan(0);
  for (const [path] of patched)
    expect(JSON.stringify(at('paths', path, 'patch', 'requestBody'))).not.toContain('"default":');
});

it('the document allows no unknown field in any request body', () => {
  const operations = Object.values(at('paths')).flatMap((methods) => Object.values(methods) as Json[]);
  const schemas = operations.flatMap(({ requestBody }) => requestBody?.content?.['application/json']?.schema ?? []);
  expect(schemas.length).toBeGreaterThan(0);
  for (const schema of schemas) expect(schema).toMatchObject({ additionalProperties: false });
});

it.each(eventNames)('the document has an example of %s with the fields of a real delivery', (name) => {
  const { event, data } = at('webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'example');
  expect(event).toBe(name);
  const delivered = sampleOf(name, () => '01K9Z3T6V0QW8E5R7T9Y1AB2CD', 0).data;
  expect(fieldNames(data).sort()).toEqual(fieldNames(delivered).sort());
});
