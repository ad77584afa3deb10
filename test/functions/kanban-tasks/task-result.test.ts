import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { TaskDetail } from '../../../lib/contract/tasks/tasks.ts';
import { runDuePurges } from '../../../lib/executions/purges.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import type { Model } from '../../../lib/model/converse.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, passing } from '../executions/test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);
let taskId: string;
beforeEach(async () => {
  taskId = await api.tasks.put({ status: 'assigned', assignedAgent: 'writer' });
});

const read = (query = 'include=result', token?: string) =>
  api.tasks.getTask({ params: { id: taskId }, query, ...(token && { token }) });
const resultOf = async () => dataOf<TaskDetail>(await read()).result;
const move = (status: string) => api.tasks.updateTask({ params: { id: taskId }, body: { status } });
const start = (name?: string) => api.start({ taskId }, name);
const broken: Model = async () => ({ kind: 'failed', error: 'model_failed', tokens: 7 });

describe('the result of a task', () => {
  it('is the execution on it that has ended, with its output, gates and tokens', async () => {
    const id = await start();
    await api.carryOut(id, passing('It is done.'));
    const { completedAt, gateReasons } = await api.execution(id);
    const result = await resultOf();
    expect(result).toEqual({
      ...{ executionId: id, agentName: 'writer', status: 'completed', output: 'It is done.', outputLength: 11 },
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
      ...{ gateReasons, tokensUsed: 30, completedAt },
    });
    expect(Object.keys(result ?? {})).toEqual([
      ...['executionId', 'agentName', 'status', 'output', 'outputLength'],
      ...['qualityGates', 'gateReasons', 'tokensUsed', 'completedAt'],
    ]);
  });

  it('is absent without a request for it, and while no execution has ended', async () => {
    expect(dataOf(await read())).not.toHaveProperty('result');
    const id = await start();
    expect(dataOf(await read())).not.toHaveProperty('result');
    await api.carryOut(id);
    expect(dataOf(await read())).toHaveProperty('result');
    expect(dataOf(await read(''))).not.toHaveProperty('result');
  });

  it('is of a failed execution, without an output, though an earlier one has completed', async () => {
    await api.carryOut(await start());
    await move('assigned');
    const id = await start();
    await api.carryOut(id, broken);
    const result = await resultOf();
    expect(result).toMatchObject({ executionId: id, status: 'failed', outputLength: 0, tokensUsed: 7 });
    expect(result).not.toHaveProperty('output');
    expect(result).toMatchObject({ error: 'model_failed', errorReason: 'model_failed' });
  });

  it('is of a cancelled execution', async () => {
    await api.carryOut(await start());
    await move('assigned');
    const id = await start();
    await api.agents.cancelExecution({ params: { name: 'writer', id } });
    expect(await resultOf()).toMatchObject({ executionId: id, status: 'failed', outputLength: 0 });
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['completed', (id) => api.carryOut(id)],
    ['failed', (id) => api.carryOut(id, broken)],
    ['failed', (id) => api.agents.cancelExecution({ params: { name: 'writer', id } })],
  ])('is also of an execution that has %s without moving the task', async (status, end) => {
    const id = await start();
    await move('up_for_review');
    await end(id);
    expect(dataOf(await read())).toMatchObject({ status: 'up_for_review', result: { executionId: id, status } });
  });

  it('is of the execution that has ended last, whichever started last, and stays while another one runs', async () => {
    await api.agents.put({ name: 'reader' });
    const [owner, other] = [await start(), await start('reader')];
    await api.carryOut(other, passing('Second.'));
    expect(await resultOf()).toMatchObject({ executionId: other, agentName: 'reader', output: 'Second.' });
    await api.carryOut(owner, passing('First.'));
    expect(await resultOf()).toMatchObject({ executionId: owner, output: 'First.' });
    await move('assigned');
    await start();
    expect(await resultOf()).toMatchObject({ executionId: owner });
  });

  it('survives a review', async () => {
    const id = await start();
    await api.carryOut(id, passing('First.'));
    const body = { decision: 'send_back', comment: 'Again.' };
    expect((await api.tasks.reviewTask({ params: { id: taskId }, body })).status).toBe(200);
    expect(await resultOf()).toMatchObject({ executionId: id });
  });

  it.each([
    ['16 KiB', 'a'.repeat(16_384), 'a'.repeat(16_384), 16_384],
    ['a byte more', 'a'.repeat(16_385), 'a'.repeat(16_384), 16_385],
    ['characters of four bytes', `ab${'😀'.repeat(4_096)}`, `ab${'😀'.repeat(4_095)}`, 4_098],
  ])('has at most the first 16 KiB of an output of %s, whole characters, and the length of all', async (...given) => {
    const [, text, output, outputLength] = given;
    await api.carryOut(await start(), passing(text));
    const result = await resultOf();
    expect(result?.output === output).toBe(true);
    expect(result?.outputLength).toBe(outputLength);
  });

  it('is absent once its agent is deleted with its executions', async () => {
    await api.carryOut(await start());
    await api.agents.delete('writer');
    await runDuePurges(processContext(), { until: Date.now() + 3_600_000, hasTime: () => true });
    const answer = await read();
    expect([answer.status, dataOf<TaskDetail>(answer).result]).toEqual([200, undefined]);
  });
});

describe('a request for the result', () => {
  it('needs agents:read besides tasks:read, and says so', async () => {
    await api.carryOut(await start());
    const { organization } = api;
    const reader = await issueToken(processContext(), { organization, scopes: ['tasks:read'] });
    const { message } = await api.refuses(() => read('include=result', reader), 403, 'insufficient_scope');
    expect(message).toContain('agents:read');
    expect((await read('', reader)).status).toBe(200);
    const both = await issueToken(processContext(), { organization, scopes: ['tasks:read', 'agents:read'] });
    expect(dataOf<TaskDetail>(await read('include=result', both)).result?.output).toBe('Done.');
  });

  it.each(['include=blockedBy', 'include=', 'include=result,result'])('is not %s', async (query) => {
    const { details } = await api.refuses(() => read(query), 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'include' }]);
  });

  it('404 for a task that does not exist, or of another organization', async () => {
    const theirs = await (await newExecutionsApi()).tasks.put();
    for (const id of ['tk_01K00000000000000000000000', theirs])
      await api.refuses(() => api.tasks.getTask({ params: { id }, query: 'include=result' }), 404, 'not_found');
  });
});
