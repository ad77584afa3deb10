import { beforeEach, describe, expect, it } from 'vitest';
import { readRunningCap } from '../../../lib/deployment/limits.ts';
import { errorOf } from '../../api.ts';
import { sendConcurrently } from './test-agents.ts';
import {
  createTestExecutions,
  type ExecutionsApi,
  listed,
  newDelegation,
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

const rateLimited = (send = () => api.execute()) => api.refuses(send, 429, 'rate_limited');

describe('at the cap', () => {
  it('a start and a delegation are rejected with 429 rate_limited and Retry-After, also for a task', async () => {
    const taskId = await api.tasks.put();
    const delegation = { ...newDelegation, toAgent: 'qa-reviewer' };
    for (const send of [
      () => api.execute(),
      () => api.execute({ ...newExecution, taskId }),
      () => api.delegate({ ...delegation, taskId }),
    ]) {
      const { message } = await rateLimited(send);
      expect(message).toContain('The limit of 2 concurrent executions is reached');
      const answer = await send();
      expect(answer.headers['Retry-After']).toBe('10');
      expect(answer.headers['X-Request-Id']).toBe(errorOf(answer).requestId);
    }
  });

  it('a start of another organization is accepted', async () => {
    await (await newExecutionsApi()).start();
  });

  it('a start is accepted when an execution has ended, completed or failed', async () => {
    await api.carryOut(running[0] as string);
    await api.start();
    await rateLimited();
    await api.carryOut(running[1] as string, async () => ({ kind: 'failed', error: 'No.', tokens: 0 }));
    await api.start();
    await rateLimited();
  });

  it('a start is rejected for its other errors first', async () => {
    const on = (taskId: string) => () => api.execute({ ...newExecution, taskId });
    const blocked = await api.tasks.put({ dependsOn: [await api.tasks.put()] });
    await api.refuses(() => api.execute({}), 400, 'validation_failed');
    await api.refuses(() => api.execute(newExecution, { name: 'absent-agent' }), 404, 'not_found');
    await api.refuses(on('tk_01K00000000000000000000000'), 422, 'unknown_reference');
    await api.refuses(on(blocked), 409, 'task_blocked');
    await api.agents.update('writer', { status: 'inactive' });
    await api.refuses(() => api.execute(), 409, 'agent_not_active');
  });
});

it('of ten concurrent starts below the cap by one, one is accepted', async () => {
  await api.carryOut(running[0] as string);
  const answers = await sendConcurrently(10, () => api.execute());
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(429)]);
  const won = answers.filter(({ status }) => status === 200).map((answer) => startedOf(answer).executionId);
  expect(listed(await api.list('status=running'))).toEqual([newestFirst(...won, running[1] as string), 2]);
});

it('a deployment without a cap of its own has a cap of 50', () => {
  expect(readRunningCap(undefined)).toBe(50);
});
