import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { unknownFieldErrors, validate } from '../../../lib/contract/requests/validate.ts';
import { listOf, oneOf, text } from '../../../lib/contract/shapes.ts';

const schema = v.object({
  name: text(1, 5),
  kind: v.optional(oneOf(['a', 'b']), 'a'),
  tags: v.optional(listOf(text(1, 3), { max: 2 }), []),
});

describe('validate', () => {
  it('returns the output of the schema for a valid input', () => {
    expect(validate(schema, { name: 'n' })).toEqual({ output: { name: 'n', kind: 'a', tags: [] }, errors: [] });
  });

  it.each([
    [{}, ['required: name is required']],
    [
      { name: 7, kind: 'c', tags: ['long'] },
      [
        'invalid_type: name must be a string',
        'invalid_value: kind must be one of a, b',
        'invalid_value: tags.0 must have 1 to 3 characters',
      ],
    ],
    // Only the first error of a field is reported.
    [{ name: '      ' }, ['invalid_value: name must have 1 to 5 characters']],
    [{ name: 'n', tags: ['a', 'b', 'c'] }, ['invalid_value: tags must have at most 2 entries']],
    [{ name: 'n', tags: ['a', 'a'] }, ['invalid_value: tags must not have duplicates']],
    [{ name: 'n', tags: 'a' }, ['invalid_type: tags must be an array']],
    [{ name: 'n', tags: null }, ['invalid_type: tags must be an array']],
  ])('reports %j: %j', (input, expected) => {
    const { errors } = validate(schema, input);
    expect(errors.map(({ code, message }) => `${code}: ${message}`)).toEqual(expected);
    for (const { path, message } of errors) expect(message.split(' ')[0]).toBe(path);
  });
});

describe('unknownFieldErrors', () => {
  const known = { title: v.string(), assignedAgent: v.string() };
  const errorsOf = (name: string) =>
    unknownFieldErrors([name, 'title'], known, 'query parameter', { id: 'leave it out' });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])('reports the unknown field %j', (name) => {
    expect(errorsOf(name)).toMatchObject([{ path: name, code: 'unknown_field' }]);
  });

  it('reports no known field, a read-only field as read_only, and the most similar known field', () => {
    expect(errorsOf('assignedAgent')).toEqual([]);
    expect(errorsOf('id')).toMatchObject([{ path: 'id', code: 'read_only' }]);
    const message = '"assigned_agent" is not a known query parameter (did you mean assignedAgent?)';
    expect(errorsOf('assigned_agent')).toMatchObject([{ message }]);
  });
});
