import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { ExecutionStep } from '../../../lib/contract/executions/steps.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Model } from '../../../lib/model/converse.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { leaseExecution } from '../../../lib/table/executions/executions.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { conversation, type Script } from '../../executions/tool-scripts.ts';
import { defaultModel } from '../agents/test-agents.ts';
import { createTestExecutions, passing } from './test-executions.ts';

const { service, newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

/** Returns a page of the steps of an execution of `writer`, and the total. */
async function listed(id: string, query = ''): Promise<{ steps: ExecutionStep[]; total: number }> {
  const answer = await api.agents.listSteps({ params: { name: 'writer', id }, query });
  expect(answer.status).toBe(200);
  return { steps: dataOf(answer), total: paginationOf(answer).total };
}

/** Returns a model that follows a script, and passes both quality gates. */
const following =
  (script: Script): Model =>
  async (question) =>
    question.user.includes('VERDICT')
      ? { kind: 'text', text: 'VERDICT: PASS', tokens: 1 }
      : conversation(script)(question);

/** Lets `writer` carry out an execution with tools. */
async function carriedOut(script: Script, input = 'Split it.'): Promise<string> {
  await api.agents.update('writer', { capabilities: ['tasks.write'] });
  const id = await api.start({ input });
  await api.carryOut(id, following(script));
  return id;
}

const [startedAt, durationMs] = [expect.any(String), expect.any(Number)];
const timed = { startedAt, durationMs };

describe('the steps of an execution', () => {
  it('without tools are the call of its model and the quality gates', async () => {
    const id = await api.start({ input: 'A haiku?' });
    await api.carryOut(id, passing('A haiku.'));
    const gate = { kind: 'gate', output: 'VERDICT: PASS', truncated: false, tokensUsed: 10, ...timed };
    const model = { number: 1, kind: 'model', name: defaultModel, input: 'A haiku?', output: 'A haiku.' };
    expect(await listed(id)).toEqual({
      steps: [
        { ...model, truncated: false, tokensUsed: 10, ...timed },
        { ...gate, number: 2, name: 'selfTest' },
        { ...gate, number: 3, name: 'qaReview' },
      ],
      total: 3,
    });
    expect(await api.execution(id)).toMatchObject({ stepCount: 3 });
  });

  it('with tools have the arguments and the results of its calls', async () => {
    const id = await carriedOut([[['create_task', { title: 'Part' }]], 'Done.']);
    const { steps, total } = await listed(id);
    expect(total).toBe(5);
    expect(steps.map(({ number, kind, name }) => [number, kind, name])).toEqual([
      [1, 'model', defaultModel],
      [2, 'tool', 'create_task'],
      [3, 'model', defaultModel],
      [4, 'gate', 'selfTest'],
      [5, 'gate', 'qaReview'],
    ]);
    const [first, call, last] = steps;
    expect(first).toMatchObject({ input: 'Split it.', output: '', tokensUsed: 10, truncated: false });
    expect(call).toEqual({
      ...{ number: 2, kind: 'tool', name: 'create_task', input: '{"title":"Part"}', truncated: false, ...timed },
      output: expect.stringContaining('"title":"Part"'),
    });
    expect(last).toMatchObject({ output: 'Done.', tokensUsed: 10 });
    expect(await api.execution(id)).toMatchObject({ stepCount: 5, tokensUsed: 22 });
  });

  it('are paged by their numbers, with the exact total', async () => {
    const id = await carriedOut([[['create_task', { title: 'Part' }]], 'Done.']);
    const numbers = async (query: string) => (await listed(id, query)).steps.map(({ number }) => number);
    expect(await numbers('limit=2')).toEqual([1, 2]);
    expect(await numbers('limit=2&offset=2')).toEqual([3, 4]);
    expect(await numbers('limit=2&offset=4')).toEqual([5]);
    expect(await numbers('offset=5')).toEqual([]);
    expect((await listed(id, 'offset=5')).total).toBe(5);
  });

  it('have texts of at most 4 KiB, and say when they are cut', async () => {
    const title = 'é'.repeat(200);
    const description = 'ü'.repeat(9_000);
    const id = await carriedOut([[['create_task', { title, description }]], 'x'.repeat(5_000)], 'y'.repeat(5_000));
    const { steps } = await listed(id);
    for (const { input = '', output = '', kind, truncated } of steps) {
      expect(truncated).toBe(kind !== 'gate');
      for (const shown of [input, output]) expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(4096);
    }
    expect(steps[0]?.input).toBe('y'.repeat(4096));
    expect(steps[2]?.output).toBe('x'.repeat(4096));
  });

  it('have what each call of the model received if the caller asks for it, on each page', async () => {
    const id = await carriedOut([[['create_task', { title: 'Part' }]], 'Done.']);
    for (const { messages } of (await listed(id)).steps) expect(messages).toBeUndefined();
    const { steps } = await listed(id, 'include=messages');
    const [first, call, last, ...gates] = steps.map(({ messages }) => messages);
    const system = { role: 'system', promptHash: hashOf('') };
    const input = { text: '<input>\nSplit it.\n</input>' };
    expect(first).toEqual([system, { role: 'user', parts: [input] }]);
    expect(call).toBeUndefined();
    expect(last).toEqual([system, { role: 'assistant', step: 1 }, { role: 'tool', step: 2 }]);
    for (const messages of gates)
      expect(messages?.[1]?.parts?.slice(0, 2)).toEqual([input, { text: '<work>\nDone.\n</work>' }]);
    const pages = [0, 2, 4].map((offset) => listed(id, `include=messages&limit=2&offset=${offset}`));
    expect((await Promise.all(pages)).flatMap((page) => page.steps)).toEqual(steps);
  });

  it('with another include are rejected', async () => {
    const id = await api.start();
    const ask = () => api.agents.listSteps({ params: { name: 'writer', id }, query: 'include=messages,inputs' });
    await api.refuses(ask, 400, 'validation_failed');
  });

  it('that failed have an error instead of an output', async () => {
    const id = await carriedOut([
      [['update_task', { id: 'tk_01K00000000000000000000000', title: 'New' }]],
      { kind: 'failed', error: 'The model refused to do this.', tokens: 3 },
    ]);
    const { steps, total } = await listed(id);
    expect([total, steps[1]?.output, steps[2]?.output]).toEqual([3, undefined, undefined]);
    expect(steps[1]?.error).toContain('not_found');
    expect(steps[2]).toMatchObject({ error: 'The model refused to do this.', tokensUsed: 3 });
  });

  it('are none before a worker has leased it, then its model call, without an end', async () => {
    const id = await api.start();
    expect(await listed(id)).toEqual({ steps: [], total: 0 });
    const now = new Date().toISOString();
    const { organization } = api;
    await leaseExecution(service, { organization, id }, { leaseId: 'lease', now, until: now });
    const { steps } = await listed(id);
    const [step] = steps;
    expect(steps).toHaveLength(1);
    expect(step).toEqual({
      ...{ number: 1, kind: 'model', name: defaultModel, input: 'Write a haiku.', truncated: false, startedAt: now },
    });
    const currentStep = { number: 1, kind: 'model', name: defaultModel, startedAt: now };
    expect(await api.execution(id)).toMatchObject({ stepCount: 1, currentStep });
  });

  it('are those that are known if version 0.2.0 carried it out', async () => {
    const id = await api.start();
    await api.carryOut(id, passing('A haiku.'));
    await service.table.client.send(
      new UpdateCommand({
        TableName: service.tableName,
        Key: keys.executionHead(api.organization, ulidOf(id)),
        UpdateExpression: 'REMOVE timings, stepCount',
      }),
    );
    const { steps, total } = await listed(id);
    expect(total).toBe(3);
    expect(steps[0]).toMatchObject({ kind: 'model', output: 'A haiku.', startedAt });
    expect(steps[1]).toEqual({ number: 2, kind: 'gate', name: 'selfTest', output: 'VERDICT: PASS', truncated: false });
    expect(await api.execution(id)).toMatchObject({ stepCount: 3 });
  });

  it('are deleted with the agent', async () => {
    const id = await carriedOut([[['create_task', { title: 'Part' }]], 'Done.']);
    expect((await api.agents.delete('writer')).status).toBe(200);
    await api.refuses(() => api.agents.listSteps({ params: { name: 'writer', id } }), 404, 'not_found');
  });
});
