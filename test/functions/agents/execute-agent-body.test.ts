import { describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { listExecutions } from '../../../lib/executions/executions.ts';
import { readExecutionInput } from '../../../lib/table/executions/executions.ts';
import { createTestExecutions, newExecution } from './test-executions.ts';

const { service, newExecutionsApi } = await createTestExecutions();
const api = await newExecutionsApi();

const invalid = async (body: unknown) => (await api.refuses(() => api.execute(body), 400, 'validation_failed')).details;

describe('a start is rejected with 400 validation_failed, and nothing is written,', () => {
  it.each([
    ['without a body', '', 'input', 'required'],
    ['without an input', {}, 'input', 'required'],
    ['for a blank input', { input: ' \n\u3000' }, 'input', 'invalid_value'],
    [
      'for a taskId that is the id of an agent',
      { ...newExecution, taskId: 'ag_01K00000000000000000000000' },
      'taskId',
      'invalid_value',
    ],
  ])('%s', async (_, body, path, code) => {
    expect(await invalid(body)).toMatchObject([{ path, code }]);
  });

  it.each([
    ['is null', 'null', 'must be an object'],
    ['is a string', '"a: 1"', 'must be an object'],
    ['is an array', '[{"a":1}]', 'must be an object'],
    ['has 64 KiB and a byte', JSON.stringify({ a: 'x'.repeat(65_529) }), '65,536 bytes'],
    ['has a lone surrogate', '{"a":["\\udc00"]}', 'lone surrogate'],
    ['is nested 33 levels deep', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`, '32 levels deep'],
  ])('for a context that %s', async (_, context, message) => {
    const details = await invalid(`{"input":"x","context":${context}}`);
    expect(details).toMatchObject([{ path: 'context', message: expect.stringContaining(message) }]);
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
    const send = () => api.execute(newExecution, { query: 'taskId=x' });
    const { details } = await api.refuses(send, 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'taskId', code: 'unknown_field' }]);
  });

  it('with all errors in one response', async () => {
    const details = await invalid({ input: ' ', taskId: 'x', context: [], prompt: 'x' });
    expect(details?.map(({ path }) => path).sort()).toEqual(['context', 'input', 'prompt', 'taskId']);
  });
});

// These tests are last because each rejected request reads the whole table, with the large items.
describe('a start passes to its worker', () => {
  it.each([
    ['the longest input that a body can contain', { input: 'é'.repeat(100_000) }],
    ['the largest context', { input: 'x', context: { a: 'x'.repeat(65_528) } }],
  ])('%s', async (_, body) => {
    const id = await api.start(body);
    const { organization } = api;
    expect(JSON.stringify(await readExecutionInput(service, { organization, id }))).toBe(JSON.stringify(body));
    expect((await api.execution(id)).input).toBe(body.input);
  });
});

it('the list does not contain the input or context of an execution', async () => {
  await api.start({ input: 'private-input', context: { note: 'private-context' } });
  const page = await listExecutions(processContext(), api.organization, {}, { limit: 20, offset: 0 });
  expect(JSON.stringify([page, (await api.list()).body])).not.toContain('private');
});
