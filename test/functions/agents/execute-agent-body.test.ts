import { describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { listExecutions } from '../../../lib/executions/executions.ts';
import { readExecutionInput } from '../../../lib/table/executions.ts';
import { newExecution, openCrews, startedOf } from './crew.ts';

const { service, newCrew } = await openCrews();
const crew = await newCrew();

const invalid = async (body: unknown) =>
  (await crew.refuses(() => crew.execute(body), 400, 'validation_failed')).details;

/** Returns the text of a body whose context has this nesting depth; `JSON.stringify` would overflow the call stack. */
const nestedText = (depth: number) => `{"input":"x","context":{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}}`;

describe('a start is rejected with 400 validation_failed, and nothing is written,', () => {
  it.each([
    ['without a body', undefined, 'required'],
    ['without an input', {}, 'required'],
    ['for an input that is null', { input: null }, 'invalid_type'],
    ['for an input that is not a string', { input: ['x'] }, 'invalid_type'],
    ['for an empty input', { input: '' }, 'invalid_value'],
    ['for an input of white space', { input: ' \n\u3000' }, 'invalid_value'],
    ['for an input of 100,001 characters', { input: 'x'.repeat(100_001) }, 'invalid_value'],
    ['for a lone surrogate in the input', '{"input":"a\\ud800"}', 'invalid_value'],
  ])('%s', async (_, body, code) => {
    // `undefined` would be the default body.
    const details = await invalid(body ?? '');
    expect(details).toMatchObject([{ path: 'input', code }]);
  });

  it.each([
    ['is null', null, 'invalid_type'],
    ['is not a string', 7, 'invalid_type'],
    ['is not an id', 'task-1', 'invalid_value'],
    ['is the id of an agent', 'ag_01K00000000000000000000000', 'invalid_value'],
    ['is in lower case', 'tk_01k00000000000000000000000', 'invalid_value'],
  ])('for a taskId that %s', async (_, taskId, code) => {
    expect(await invalid({ ...newExecution, taskId })).toMatchObject([{ path: 'taskId', code }]);
  });

  it.each([
    ['is null', null, 'must be an object'],
    ['is an array', [{ a: 1 }], 'must be an object'],
    ['is a string', 'a: 1', 'must be an object'],
    ['is a number', 1, 'must be an object'],
    ['has 64 KiB and a byte', { a: 'x'.repeat(65_529) }, '65,536 bytes'],
  ])('for a context that %s', async (_, context, said) => {
    const details = await invalid({ ...newExecution, context });
    expect(details).toMatchObject([{ path: 'context', message: expect.stringContaining(said) }]);
  });

  it.each(['{"input":"x","context":{"a":["\\udc00"]}}', '{"input":"x","context":{"a":{"\\ud800":1}}}'])(
    'for a lone surrogate in the context of %s',
    async (text) => {
      const details = await invalid(text);
      expect(details).toMatchObject([{ path: 'context', message: expect.stringContaining('lone surrogate') }]);
    },
  );

  it.each([33, 1_000, 100_000])('for a context that is nested %i deep', async (depth) => {
    const details = await invalid(nestedText(depth));
    expect(details).toMatchObject([{ path: 'context', message: expect.stringContaining('32 levels deep') }]);
  });

  it.each(['input', 'taskId', 'other'])('for a %s that is nested 100,000 deep', async (field) => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const details = await invalid(`{"input":"x","${field}":${deep}}`);
    expect(details).toMatchObject([{ path: field }]);
  });

  it.each(['[]', 'null', '"x"', '7', '['.repeat(100_000) + ']'.repeat(100_000)])(
    'for a body that is not an object: %.20s',
    async (text) => {
      expect(await invalid(text)).toMatchObject([{ path: '', code: 'invalid_type' }]);
    },
  );

  it('for misspelled fields, with the known field as a suggestion', async () => {
    const asked = { inputs: 'input', task_id: 'taskId', taskid: 'taskId', Context: 'context' };
    const details = await invalid({ ...newExecution, ...asked });
    expect(details).toMatchObject(
      Object.entries(asked).map(([path, meant]) => ({
        path,
        code: 'unknown_field',
        message: expect.stringContaining(`did you mean ${meant}?`),
      })),
    );
  });

  it('for unknown fields, also `__proto__` and `constructor`', async () => {
    const text = '{"input":"x","constructor":1,"__proto__":{},"owner":"ex_1","claim":"x"}';
    const details = await invalid(text);
    expect(details?.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
      '__proto__ unknown_field',
      'claim unknown_field',
      'constructor unknown_field',
      'owner unknown_field',
    ]);
  });

  it('for fields of the response that only the service sets', async () => {
    const asked = { executionId: 'x', agentName: 'x', status: 'completed', startedAt: 'x' };
    const details = await invalid({ ...newExecution, ...asked });
    expect(details).toMatchObject(Object.keys(asked).map((path) => ({ path, code: 'read_only' })));
  });

  it('for fields of an execution that only the service sets', async () => {
    const asked = { id: 'x', model: 'x', output: 'x', tokensUsed: 1, durationMs: 1, qualityGates: {}, error: 'x' };
    const details = await invalid({ ...newExecution, ...asked });
    expect(details).toMatchObject(Object.keys(asked).map((path) => ({ path, code: 'read_only' })));
  });

  it('for a query parameter', async () => {
    const send = () => crew.execute(newExecution, { query: 'taskId=x' });
    const { details } = await crew.refuses(send, 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'taskId', code: 'unknown_field' }]);
  });

  it('with all errors in one response', async () => {
    const details = await invalid({ input: ' ', taskId: 'x', context: [], prompt: 'x' });
    expect(details?.map(({ path }) => path).sort()).toEqual(['context', 'input', 'prompt', 'taskId']);
  });
});

describe('a start is rejected, and nothing is written,', () => {
  const bodyOf = (bytes: number) => JSON.stringify(newExecution).padEnd(bytes, ' ');

  it('with 413 payload_too_large for a body over 256 KiB, and not for one of 256 KiB', async () => {
    await crew.refuses(() => crew.execute(bodyOf(256 * 1024 + 1)), 413, 'payload_too_large');
    expect((await crew.execute(bodyOf(256 * 1024))).status).toBe(200);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'with 415 unsupported_media_type for a body of the type %j',
    async (type) => {
      const { message } = await crew.refuses(
        () => crew.execute(newExecution, { headers: { 'Content-Type': type } }),
        415,
        'unsupported_media_type',
      );
      expect(message).toContain('Content-Type: application/json');
    },
  );

  it.each(['{', '{"input":"x"', "{'input':'x'}", '{"input":"x"}}', '{"input":"\n"}', 'input=x'])(
    'with 400 invalid_json for %j',
    async (text) => {
      await crew.refuses(() => crew.execute(text), 400, 'invalid_json');
    },
  );
});

// These tests are last because each rejected request reads the whole table, with the large items.
describe('a start passes to its worker', () => {
  it.each([
    ['every character of the input', { input: ' \u0000 Two\n\nlines, 👩‍🚀 and \u2028 ' }],
    ['the keys of the context, in their order', { input: 'x', context: { b: 1, a: [null, true, { c: 0.5 }], '': '' } }],
    ['an empty context', { input: 'x', context: {} }],
    ['the longest input that a body can contain', { input: 'é'.repeat(100_000) }],
    ['the largest context', { input: 'x', context: { a: 'x'.repeat(65_528) } }],
  ])('%s', async (_, body) => {
    const id = await crew.start(body);
    const { organization } = crew;
    expect(JSON.stringify(await readExecutionInput(service, { organization, id }))).toBe(JSON.stringify(body));
    expect((await crew.execution(id)).input).toBe(body.input);
  });

  it.each(['constructor', '__proto__', 'prototype', 'toJSON'])('a key %s of the context', async (key) => {
    const text = `{"input":"x","context":{"${key}":{"${key}":"kept"}}}`;
    const answer = await crew.execute(text);
    expect(answer.status).toBe(200);
    const asked = await readExecutionInput(service, {
      organization: crew.organization,
      id: startedOf(answer).executionId,
    });
    expect(JSON.stringify(asked)).toBe(text);
  });

  it('a context that is nested 32 deep', async () => {
    expect((await crew.execute(nestedText(32))).status).toBe(200);
  });
});

it('the list does not contain the input or context of an execution', async () => {
  await crew.start({ input: 'private-input', context: { note: 'private-context' } });
  const page = await listExecutions(processContext(), crew.organization, {}, { limit: 20, offset: 0 });
  expect(JSON.stringify([page, (await crew.list()).body])).not.toContain('private');
});
