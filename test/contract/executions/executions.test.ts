import { describe, expect, it } from 'vitest';
import {
  delegateTask,
  executeAgent,
  getExecution,
  listAgentExecutions,
  listExecutions,
} from '../../../lib/contract/executions/executions.ts';
import { validate } from '../../../lib/contract/requests/validate.ts';
import { agentNames, errorsOf, ids, testFields, testPage, texts, wide } from '../fields.ts';

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

/** Contexts: 64 KiB as JSON in UTF-8, nested 32 levels deep, without lone surrogates and U+0000. */
const contexts = {
  valid: [
    ...[{}, { a: null }, { '': '' }, { a: [1, { b: [true, 'x'] }] }, { '\u0001': '\u200b' }],
    ...[objects(32), arrays(32), { a: Array.from({ length: 30_000 }, () => 1) }],
    // An escape sequence has more bytes than its character.
    ...[contextOf(65_536), { a: wide(16_382) }, { a: '\u0001'.repeat(10_921) }],
  ],
  invalid: [
    // The deepest are nested deeper than the call stack.
    ...[objects(33), arrays(33), { b: 1, ...(objects(33) as object) }, objects(100_000), arrays(100_000)],
    ...[contextOf(65_537), { a: wide(16_383) }, { a: '\u0001'.repeat(10_922) }],
    ...[{ a: '\u0000' }, { '\u0000': 1 }, { a: [{ b: 'x\u0000' }] }],
    ...[{ a: '\ud800' }, { '\udc00': 1 }, { a: [{ b: 'x\ud83d' }] }, { a: [{ '\ud83d': {} }] }],
    ...[null, 'a: 1', [{ a: 1 }]],
  ],
};
const taskId = { ...ids('tk'), ofOtherType: [null, 7, {}, ['tk_01K00000000000000000000000']] };
const tooDeep = nested(100_000, (value) => [value]);
const input = { ...texts(100_000), ofOtherType: [null, 7, true, {}, ['x'], tooDeep] };

describe('a start', () => {
  const required = { input: 'Write a haiku.' };

  it('requires only an input', () => {
    expect(validate(executeAgent.body, required)).toEqual({ output: required, errors: [] });
    expect(errorsOf(executeAgent.body, {})).toEqual(['input required']);
  });

  testFields(executeAgent.body, required, { input, taskId, context: contexts });

  it.each(['__proto__', 'constructor', 'prototype', 'toJSON', 'hasOwnProperty', 'length'])(
    'can have a key %s in its context, which it keeps',
    (key) => {
      const context = JSON.parse(`{"${key}":{"${key}":1},"other":[{"${key}":2}]}`);
      const { output, errors } = validate(executeAgent.body, { ...required, context });
      expect(errors).toEqual([]);
      expect(JSON.stringify((output as { context: unknown }).context)).toBe(JSON.stringify(context));
    },
  );

  it.each([
    ['must be an object', null],
    ['must have at most 65,536 bytes as JSON', contextOf(65_537)],
    ['must not contain a lone surrogate', { a: '\ud800' }],
    ['must not contain U+0000', { a: ['x\u0000'] }],
    ['must be nested at most 32 levels deep', objects(33)],
  ])('with an invalid context says that it %s', (message, context) => {
    expect(validate(executeAgent.body, { ...required, context }).errors).toEqual([
      { path: 'context', code: 'invalid_value', message: `context ${message}` },
    ]);
  });
});

describe('a delegation', () => {
  const required = { toAgent: 'reader', instruction: 'Write a haiku.' };
  testFields(delegateTask.body, required, { toAgent: agentNames, instruction: input, taskId, context: contexts });

  it('requires an agent and an instruction', () => {
    expect(errorsOf(delegateTask.body, {})).toEqual(['toAgent required', 'instruction required']);
  });
});

it('the path of a read accepts an agent name and the id of an execution', () => {
  for (const [schema, { valid, invalid }] of [
    [getExecution.params.name, agentNames],
    [getExecution.params.id, ids('ex')],
  ] as const) {
    for (const value of valid) expect(errorsOf(schema, value)).toEqual([]);
    for (const value of invalid) expect(errorsOf(schema, value)).toHaveLength(1);
  }
});

describe.each([
  ['all', listExecutions],
  ['an agent', listAgentExecutions],
])('the query of the executions of %s', (_, { query }) => {
  it('has status, agentName, include, limit and offset', () => {
    expect(Object.keys(query.entries)).toEqual(['status', 'agentName', 'include', 'limit', 'offset']);
  });

  it('accepts one value of include, or several separated by commas', () => {
    for (const values of [['results'], ['subject'], ['subject', 'results']])
      expect(validate(query, { include: values.join(',') })).toMatchObject({ output: { include: values }, errors: [] });
  });

  const status = { valid: ['running', 'completed', 'failed'], invalid: ['pending'] };
  const include = {
    valid: [],
    invalid: ['', ',', 'results,', 'results,results', 'results;subject', 'RESULTS', 'output'],
  };
  testFields(query, {}, { status, agentName: agentNames, include });
  testPage(query);
});
