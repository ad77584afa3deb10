import { beforeEach, describe, expect, it } from 'vitest';
import { errorOf } from '../../api.ts';
import { sendConcurrently } from './test-agents.ts';
import {
  createTestExecutions,
  type ExecutionsApi,
  listed,
  newExecution,
  newestFirst,
  startedOf,
} from './test-executions.ts';

const cap = 2;
const { newExecutionsApi } = await createTestExecutions(cap);
let api: ExecutionsApi;
let running: string[];

/** Creates an organization that is at the cap. */
beforeEach(async () => {
  api = await newExecutionsApi();
  running = [await api.start(), await api.start({}, 'qa-reviewer')];
});

const headers = { 'Idempotency-Key': 'key' };
const refused = (send = () => api.execute()) => api.refuses(send, 429, 'rate_limited');

describe('a start at the cap', () => {
  it('is rejected with 429 rate_limited, says when to retry, and writes nothing', async () => {
    const { message } = await refused();
    expect(message).toContain('The limit of 2 concurrent executions is reached');
    const answer = await api.execute();
    expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(answer.headers['X-Request-Id']).toBe(errorOf(answer).requestId);
  });

  it('has Retry-After for a task too, which does not change', async () => {
    const taskId = await api.tasks.put();
    await refused(() => api.execute({ ...newExecution, taskId }));
    const answer = await api.execute({ ...newExecution, taskId }, { headers });
    expect([answer.status, answer.headers['Retry-After']]).toEqual([429, '10']);
    expect((await api.tasks.getTask({ params: { id: taskId } })).headers.ETag).toBe('"1"');
  });

  it('does not limit another organization', async () => {
    const other = await newExecutionsApi();
    expect((await other.execute()).status).toBe(200);
  });

  it('is accepted when one has ended, completed or failed', async () => {
    await api.carryOut(running[0] as string);
    await api.start();
    await refused();
    await api.carryOut(running[1] as string, async () => ({ kind: 'failed', error: 'No.', tokens: 0 }));
    await api.start();
    await refused();
  });

  it('under an Idempotency-Key stores no record, and is accepted when there is capacity', async () => {
    await refused(() => api.execute(newExecution, { headers }));
    await api.carryOut(running[0] as string);
    const answer = await api.execute(newExecution, { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('is replayed if it was accepted before', async () => {
    const other = await newExecutionsApi();
    const first = await other.execute(newExecution, { headers });
    await other.start();
    await other.refuses(() => other.execute(), 429, 'rate_limited');
    const again = await other.execute(newExecution, { headers });
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  it('sent ten times concurrently below the cap by one is accepted once', async () => {
    await api.carryOut(running[0] as string);
    const answers = await sendConcurrently(10, () => api.execute());
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(429)]);
    const won = answers.filter(({ status }) => status === 200).map((answer) => startedOf(answer).executionId);
    expect(listed(await api.list('status=running'))).toEqual([newestFirst(...won, running[1] as string), 2]);
  });

  it('sent ten times concurrently under one Idempotency-Key, below the cap by one, gets one response', async () => {
    await api.carryOut(running[0] as string);
    const answers = await sendConcurrently(10, () => api.execute(newExecution, { headers }));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });
});

describe('at the cap a start is rejected', () => {
  it('with 404 for an absent agent', async () => {
    await api.refuses(() => api.execute(newExecution, { name: 'absent-agent' }), 404, 'not_found');
  });

  it('with 400 for an invalid body', async () => {
    await api.refuses(() => api.execute({}), 400, 'validation_failed');
  });

  it('with 422 for an absent task', async () => {
    const taskId = 'tk_01K00000000000000000000000';
    await api.refuses(() => api.execute({ ...newExecution, taskId }), 422, 'unknown_reference');
  });

  it('with 409 for an agent that is not active', async () => {
    await api.agents.update('writer', { status: 'inactive' });
    await api.refuses(() => api.execute(), 409, 'agent_not_active');
  });

  it('with 409 for a blocked task', async () => {
    const taskId = await api.tasks.put({ dependsOn: [await api.tasks.put()] });
    await api.refuses(() => api.execute({ ...newExecution, taskId }), 409, 'task_blocked');
  });
});

it('reads and changes succeed at the cap', async () => {
  expect(listed(await api.list('status=running'))[1]).toBe(cap);
  expect((await api.agents.update('writer', { displayName: 'W' })).status).toBe(200);
});
