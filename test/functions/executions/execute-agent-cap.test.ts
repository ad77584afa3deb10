import { beforeEach, describe, expect, it } from 'vitest';
import { environment } from '../../../lib/names/environment.ts';
import { numberSettings, readNumber } from '../../../lib/settings/number-settings.ts';
import { errorOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { sendConcurrently } from '../agents/test-agents.ts';
import {
  createTestExecutions,
  listed,
  newDelegation,
  newExecution,
  newestFirst,
  startedOf,
} from './test-executions.ts';

const cap = 2;
const { newExecutionsApi } = await createTestExecutions({ [environment.runningCap]: String(cap) });
const api = newForEachTest(newExecutionsApi);
let running: string[];

/** Creates an organization that is at the cap. */
beforeEach(async () => {
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

  it('the errors of a start are reported in this order: body, agent, task, status, dependencies, cap', async () => {
    const absent = 'tk_01K00000000000000000000000';
    const blocked = await api.tasks.put({ dependsOn: [await api.tasks.put()] });
    await api.agents.put({ name: 'draft', status: 'draft' });
    for (const [name, fields, status, code] of [
      ['writer', { input: '' }, 400, 'validation_failed'],
      ['absent-agent', { taskId: absent }, 404, 'not_found'],
      ['draft', { taskId: absent }, 422, 'unknown_reference'],
      ['draft', { taskId: blocked }, 409, 'agent_not_active'],
      ['writer', { taskId: blocked }, 409, 'task_blocked'],
      ['writer', {}, 429, 'rate_limited'],
    ] as const)
      await api.refuses(() => api.execute({ ...newExecution, ...fields }, { name }), status, code);
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
  expect(readNumber(numberSettings.runningCap, {})).toBe(50);
});
