import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { listOf, oneOf, text } from '../../lib/contract/shapes.ts';
import { check, unknownFields } from '../../lib/http/faults.ts';

const schema = v.object({
  name: text(1, 5),
  kind: v.optional(oneOf(['a', 'b']), 'a'),
  tags: v.optional(listOf(text(1, 3), { max: 2 }), []),
});

describe('check', () => {
  it('gives what the schema makes of a good input', () => {
    expect(check(schema, { name: 'n' })).toEqual({ output: { name: 'n', kind: 'a', tags: [] }, faults: [] });
  });

  it('names what is missing as required', () => {
    expect(check(schema, {}).faults).toEqual([{ path: 'name', code: 'required', message: 'name is required' }]);
  });

  it('tells a wrong type from a wrong value', () => {
    expect(check(schema, { name: 7, kind: 'c', tags: ['long'] }).faults).toEqual([
      { path: 'name', code: 'invalid_type', message: 'name must be a string' },
      { path: 'kind', code: 'invalid_value', message: 'kind must be one of a, b' },
      { path: 'tags.0', code: 'invalid_value', message: 'tags.0 must have 1 to 3 characters' },
    ]);
  });

  it('names one fault a field, the first', () => {
    expect(check(schema, { name: '      ' }).faults).toEqual([
      { path: 'name', code: 'invalid_value', message: 'name must have 1 to 5 characters' },
    ]);
  });

  it.each([
    [['a', 'b', 'c'], 'tags must have at most 2 entries'],
    [['a', 'a'], 'tags must not have duplicates'],
    ['a', 'tags must be an array'],
    [null, 'tags must be an array'],
  ])('says of the list %j: %s', (tags, message) => {
    expect(check(schema, { name: 'n', tags }).faults).toMatchObject([{ path: 'tags', message }]);
  });
});

describe('unknownFields', () => {
  const known = { title: v.string(), assignedAgent: v.string() };

  it('has nothing against known fields', () => {
    expect(unknownFields(['title', 'assignedAgent'], known, 'field')).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])('knows no field %j', (name) => {
    expect(unknownFields([name], known, 'field')).toMatchObject([{ path: name, code: 'unknown_field' }]);
  });

  it('names the field that was meant', () => {
    const [fault] = unknownFields(['assigned_agent'], known, 'query parameter');
    expect(fault?.message).toBe('"assigned_agent" is not a known query parameter; did you mean assignedAgent?');
  });

  it('says of a read-only field that it is one', () => {
    expect(unknownFields(['id'], known, 'field', ['id'])).toMatchObject([{ path: 'id', code: 'read_only' }]);
  });
});
