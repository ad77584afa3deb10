import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { listOf, oneOf, text } from '../../lib/contract/shapes.ts';
import { unknownFieldErrors, validate } from '../../lib/http/validate.ts';

const schema = v.object({
  name: text(1, 5),
  kind: v.optional(oneOf(['a', 'b']), 'a'),
  tags: v.optional(listOf(text(1, 3), { max: 2 }), []),
});

describe('validate', () => {
  it('returns the output of the schema for a valid input', () => {
    expect(validate(schema, { name: 'n' })).toEqual({ output: { name: 'n', kind: 'a', tags: [] }, errors: [] });
  });

  it('reports a missing field as required', () => {
    expect(validate(schema, {}).errors).toEqual([{ path: 'name', code: 'required', message: 'name is required' }]);
  });

  it('distinguishes a wrong type from a wrong value', () => {
    expect(validate(schema, { name: 7, kind: 'c', tags: ['long'] }).errors).toEqual([
      { path: 'name', code: 'invalid_type', message: 'name must be a string' },
      { path: 'kind', code: 'invalid_value', message: 'kind must be one of a, b' },
      { path: 'tags.0', code: 'invalid_value', message: 'tags.0 must have 1 to 3 characters' },
    ]);
  });

  it('reports only the first error of a field', () => {
    expect(validate(schema, { name: '      ' }).errors).toEqual([
      { path: 'name', code: 'invalid_value', message: 'name must have 1 to 5 characters' },
    ]);
  });

  it.each([
    [['a', 'b', 'c'], 'tags must have at most 2 entries'],
    [['a', 'a'], 'tags must not have duplicates'],
    ['a', 'tags must be an array'],
    [null, 'tags must be an array'],
  ])('reports the array %j: %s', (tags, message) => {
    expect(validate(schema, { name: 'n', tags }).errors).toMatchObject([{ path: 'tags', message }]);
  });
});

describe('unknownFieldErrors', () => {
  const known = { title: v.string(), assignedAgent: v.string() };

  it('returns no error for known fields', () => {
    expect(unknownFieldErrors(['title', 'assignedAgent'], known, 'field')).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])('reports the unknown field %j', (name) => {
    expect(unknownFieldErrors([name], known, 'field')).toMatchObject([{ path: name, code: 'unknown_field' }]);
  });

  it('suggests the most similar known field', () => {
    const [error] = unknownFieldErrors(['assigned_agent'], known, 'query parameter');
    expect(error?.message).toBe('"assigned_agent" is not a known query parameter (did you mean assignedAgent?)');
  });

  it('reports a read-only field as read_only', () => {
    expect(unknownFieldErrors(['id'], known, 'field', ['id'])).toMatchObject([{ path: 'id', code: 'read_only' }]);
  });
});
