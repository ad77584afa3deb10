import { describe, expect, it } from 'vitest';
import {
  delegateTask,
  executeAgent,
  getExecution,
  listAgentExecutions,
  listExecutions,
} from '../../lib/contract/executions.ts';
import { validate } from '../../lib/http/validate.ts';

const required = { input: 'Write a haiku.' };
const taskId = 'tk_01K00000000000000000000000';

/** Returns the errors of a field of a start, as `<path> <code>`; an empty list if it is valid and unchanged. */
function errorsOf(field: string, value: unknown): string[] {
  const body = { ...required, [field]: value };
  const { output, errors } = validate(executeAgent.body, body);
  if (errors.length === 0) expect(output).toEqual(body);
  return errors.map(({ path, code }) => `${path} ${code}`);
}

/** Returns characters of four bytes, two UTF-16 code units and one code point each. */
const wide = (count: number) => '😀'.repeat(count);

/** Returns a value with this nesting depth, itself included. */
function nested(depth: number, inner: (value: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = inner(value);
  return value;
}
const objects = (depth: number) => nested(depth, (a) => ({ a }));
const arrays = (depth: number) => ({ a: nested(depth - 1, (value) => [value]) });

/** Returns a context whose JSON has this number of bytes. */
const contextOf = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

describe('the input of a start', () => {
  it('can have 1 to 100,000 code points', () => {
    for (const input of ['x', 'x'.repeat(100_000), wide(100_000), ' x\n', '\u0000', 'e\u0301'])
      expect(errorsOf('input', input)).toEqual([]);
    for (const input of ['x'.repeat(100_001), wide(100_001), `${wide(100_000)}x`])
      expect(errorsOf('input', input)).toEqual(['input invalid_value']);
  });

  it('cannot be blank or have a lone surrogate', () => {
    for (const input of ['', ' \t\n\u00a0\u3000\ufeff', '\ud800', 'a\udc00', '\udc00\ud800'])
      expect(errorsOf('input', input)).toEqual(['input invalid_value']);
  });

  it('is required, and must be a string', () => {
    expect(errorsOf('input', undefined)).toEqual(['input required']);
    for (const input of [null, 7, true, {}, ['x'], nested(100_000, (value) => [value])])
      expect(errorsOf('input', input)).toEqual(['input invalid_type']);
  });
});

describe('the taskId of a start', () => {
  it('is optional', () => {
    expect(validate(executeAgent.body, required)).toEqual({ output: required, errors: [] });
  });

  it.each([
    '',
    'tk_',
    taskId.slice(3),
    taskId.toLowerCase(),
    `${taskId}0`,
    `${taskId}\n`,
    taskId.replace('tk_', 'ag_'),
    // More than 128 bits, and a letter that is not in Crockford's alphabet.
    'tk_81K00000000000000000000000',
    'tk_01K0000000000000000000000U',
  ])('cannot be %j', (id) => {
    expect(errorsOf('taskId', id)).toEqual(['taskId invalid_value']);
  });

  it('cannot be null, and must be a string', () => {
    for (const id of [null, 7, {}, [taskId]]) expect(errorsOf('taskId', id)).toEqual(['taskId invalid_type']);
  });
});

describe('the context of a start', () => {
  it('can be any object', () => {
    for (const context of [{}, { a: null }, { '': '' }, { a: [1, { b: [true, 'x'] }] }, { '\u0000': '\u0000' }])
      expect(errorsOf('context', context)).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toJSON', 'hasOwnProperty', 'length'])(
    'can have a key %s, which it keeps',
    (key) => {
      const context = JSON.parse(`{"${key}":{"${key}":1},"other":[{"${key}":2}]}`);
      const { output, errors } = validate(executeAgent.body, { ...required, context });
      expect(errors).toEqual([]);
      expect(JSON.stringify((output as { context: unknown }).context)).toBe(JSON.stringify(context));
    },
  );

  it('can be nested 32 levels deep, in objects, arrays and both', () => {
    for (const context of [objects(32), arrays(32)]) expect(errorsOf('context', context)).toEqual([]);
    for (const context of [objects(33), arrays(33), { b: 1, ...(objects(33) as object) }])
      expect(errorsOf('context', context)).toEqual(['context invalid_value']);
  });

  it('is rejected, without an overflow, if it is nested deeper than the call stack', () => {
    for (const context of [objects(100_000), arrays(100_000)])
      expect(errorsOf('context', context)).toEqual(['context invalid_value']);
  });

  it('can have arrays of 30,000 values', () => {
    expect(errorsOf('context', { a: Array.from({ length: 30_000 }, () => 1) })).toEqual([]);
  });

  it('can have 64 KiB as JSON, in UTF-8', () => {
    expect(errorsOf('context', contextOf(65_536))).toEqual([]);
    expect(errorsOf('context', contextOf(65_537))).toEqual(['context invalid_value']);
    expect(errorsOf('context', { a: wide(16_382) })).toEqual([]);
    expect(errorsOf('context', { a: wide(16_383) })).toEqual(['context invalid_value']);
    // An escape sequence has more bytes than its character.
    expect(errorsOf('context', { a: '\u0000'.repeat(10_921) })).toEqual([]);
    expect(errorsOf('context', { a: '\u0000'.repeat(10_922) })).toEqual(['context invalid_value']);
  });

  it('cannot have a lone surrogate, in a value or in a key', () => {
    for (const context of [{ a: '\ud800' }, { '\udc00': 1 }, { a: [{ b: 'x\ud83d' }] }, { a: [{ '\ud83d': {} }] }])
      expect(errorsOf('context', context)).toEqual(['context invalid_value']);
  });
});

it('a context that is invalid has a message that says what is wrong', () => {
  for (const [context, message] of [
    [null, 'must be an object'],
    ['a: 1', 'must be an object'],
    [[{ a: 1 }], 'must be an object'],
    [contextOf(65_537), 'must have at most 65,536 bytes as JSON'],
    [{ a: '\ud800' }, 'must not contain a lone surrogate'],
    [objects(33), 'must be nested at most 32 levels deep'],
  ] as const)
    expect(validate(executeAgent.body, { ...required, context }).errors).toEqual([
      { path: 'context', code: 'invalid_value', message: `context ${message}` },
    ]);
});

it('a delegation requires an agent and an instruction, and has the fields of a start', () => {
  const errors = (body: object) => validate(delegateTask.body, body).errors.map(({ path, code }) => `${path} ${code}`);
  expect(errors({})).toEqual(['toAgent required', 'instruction required']);
  expect(errors({ toAgent: 'Reader', instruction: ' ', taskId: 'x', context: [] }).sort()).toEqual(
    ['context', 'instruction', 'taskId', 'toAgent'].map((path) => `${path} invalid_value`),
  );
  expect(errors({ toAgent: 'reader', instruction: wide(100_000), taskId, context: {} })).toEqual([]);
  expect(errors({ toAgent: 'reader', instruction: wide(100_001) })).toEqual(['instruction invalid_value']);
});

it('the path of a read accepts an agent name and the id of an execution', () => {
  const { name, id } = getExecution.params;
  const taken = (schema: typeof name | typeof id, value: string) => validate(schema, value).errors.length === 0;
  expect(taken(name, 'writer')).toBe(true);
  expect(taken(name, 'Writer')).toBe(false);
  expect(taken(id, 'ex_01K00000000000000000000000')).toBe(true);
  for (const other of [taskId, 'ex_01k00000000000000000000000', 'ex_', 'ex_01K00000000000000000000000 '])
    expect(taken(id, other)).toBe(false);
});

describe.each([
  ['all', listExecutions],
  ['an agent', listAgentExecutions],
])('the query of the executions of %s', (_, row) => {
  const errors = (query: unknown) => validate(row.query, query).errors.map(({ path, code }) => `${path} ${code}`);

  it('has status, agentName, limit and offset, and requires none', () => {
    expect(Object.keys(row.query.entries)).toEqual(['status', 'agentName', 'limit', 'offset']);
    expect(validate(row.query, {})).toEqual({ output: { limit: 20, offset: 0 }, errors: [] });
  });

  it.each([
    [{ status: 'pending' }, 'status invalid_value'],
    [{ agentName: 'Writer' }, 'agentName invalid_value'],
    [{ limit: '0' }, 'limit invalid_value'],
    [{ limit: '1e2' }, 'limit invalid_value'],
    [{ limit: '-1' }, 'limit invalid_value'],
    [{ offset: '-1' }, 'offset invalid_value'],
    [{ offset: '1.5' }, 'offset invalid_value'],
  ])('rejects %j', (query, error) => expect(errors(query)).toEqual([error]));

  it('counts a limit over 100 as 100', () => {
    for (const limit of ['101', '9'.repeat(400)])
      expect(validate(row.query, { limit }).output).toMatchObject({ limit: 100 });
  });
});
