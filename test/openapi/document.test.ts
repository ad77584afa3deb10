import { describe, expect, it } from 'vitest';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { eventNames } from '../../lib/contract/events.ts';
import { sampleOf } from '../../lib/webhooks/samples.ts';
import { fieldNames } from '../field-names.ts';
import { at, document, type Json, textOf } from './published.ts';

// `npm run check` compares the document with docs/openapi.json, so these tests only state rules.

const operations = Object.entries(document.paths as Json).flatMap(([path, all]) =>
  Object.keys(all).map((method) => [method, path] as const),
);
const operationIdOf = (method: string, path: string) => textOf(at('paths', path, method).operationId) as string;
const eventExampleOf = (name: string) =>
  at('webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'example');

describe('the document', () => {
  it('is OpenAPI 3.1', () => {
    expect(document.openapi).toBe('3.1.1');
  });

  it('has every endpoint once, and every event, each with an operation id of its own', () => {
    const ids = operations.map(([method, path]) => operationIdOf(method, path));
    expect([...ids].sort()).toEqual(Object.keys(endpoints).sort());
    expect(Object.keys(document.webhooks as Json)).toEqual(eventNames);
    const eventIds = eventNames.map((name) => textOf(at('webhooks', name, 'post').operationId));
    expect(new Set([...ids, ...eventIds]).size).toBe(ids.length + eventIds.length);
  });

  it.each(operations)('has for %s %s each parameter of the path, required and with its pattern', (method, path) => {
    const { parameters = {} } = at('paths', path, method);
    const inPath = Object.values(parameters as Json).filter((parameter) => textOf(parameter.in) === 'path');
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const parameter of inPath)
      expect(parameter).toMatchObject({ required: true, schema: { type: 'string', pattern: /./ } });
  });

  it.each(operations)('has for %s %s the limit headers and the 429 if it requires a token', (method, path) => {
    const { security, responses } = at('paths', path, method) as { security: Json; responses: Json };
    const limited = Object.keys(security).length > 0;
    const success = Object.keys(responses).find((status) => status < '300') as string;
    const headers = Object.keys(at('paths', path, method, 'responses', success, 'headers'));
    for (const header of ['RateLimit', 'RateLimit-Policy']) expect(headers.includes(header)).toBe(limited);
    expect('429' in responses).toBe(limited);
    if (limited)
      expect(Object.keys(at('paths', path, method, 'responses', '429', 'headers')).sort()).toEqual([
        'RateLimit',
        'RateLimit-Policy',
        'Retry-After',
        'X-Request-Id',
      ]);
  });

  it('has no default in the body of a PATCH, since omitted fields do not change', () => {
    const patches = operations.filter(([method]) => method === 'patch');
    expect(patches.length).toBeGreaterThan(0);
    for (const [method, path] of patches)
      expect(JSON.stringify(at('paths', path, method, 'requestBody'))).not.toContain('"default":');
  });

  it.each(eventNames)('has an example of %s with the fields of a real delivery', (name) => {
    const { event, data } = eventExampleOf(name);
    expect(event).toBe(name);
    const delivered = sampleOf(name, () => '01K9Z3T6V0QW8E5R7T9Y1AB2CD', 0).data;
    expect(fieldNames(data).sort()).toEqual(fieldNames(delivered).sort());
  });
});
