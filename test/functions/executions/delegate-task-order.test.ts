import { beforeEach, describe, expect, it } from 'vitest';
import { environment } from '../../../lib/names/environment.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, newDelegation } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions({ [environment.runningCap]: '4' });
const api = newForEachTest(newExecutionsApi);
let taskId: string;
const delegate = (from: string, toAgent: string, fields: object = {}) =>
  api.delegate({ ...newDelegation, toAgent, taskId, ...fields }, { name: from });

/** Creates a chain of three delegations, the longest one, which is at the cap. */
beforeEach(async () => {
  taskId = await api.tasks.put();
  for (const name of ['reader', 'last']) await api.agents.put({ name });
  await api.start({ taskId });
  await api.startDelegated('writer', 'qa-reviewer', { taskId });
  await api.startDelegated('qa-reviewer', 'prompt-improver', { taskId });
  await api.startDelegated('prompt-improver', 'reader', { taskId });
});

describe('at the end of the longest chain a delegation is rejected', () => {
  it.each([
    ['delegation_too_deep', 'last', '3 times', 'limit'],
    ['delegation_cycle', 'writer', 'writer', 'cycle'],
  ])('with 409 %s to %s', async (code, toAgent, words, reason) => {
    const { details, message } = await api.refuses(() => delegate('reader', toAgent), 409, code);
    expect(message).toContain(words);
    expect(details).toMatchObject([{ path: 'toAgent', code: reason }]);
  });
});

it('the errors of a delegation are reported in this order: agent, task, itself, status, dependencies, cap', async () => {
  const absent = { taskId: 'tk_01K00000000000000000000000' };
  const blocked = { taskId: await api.tasks.put({ dependsOn: [taskId] }) };
  await api.agents.put({ name: 'draft', status: 'draft' });
  for (const [from, to, fields, status, code] of [
    ['absent-agent', 'none', absent, 404, 'not_found'],
    ['absent-agent', 'absent-agent', {}, 404, 'not_found'],
    ['writer', 'writer', absent, 422, 'unknown_reference'],
    ['writer', 'draft', absent, 422, 'unknown_reference'],
    ['reader', 'absent-agent', {}, 422, 'unknown_reference'],
    ['draft', 'draft', blocked, 422, 'self_delegation'],
    ['writer', 'draft', blocked, 409, 'agent_not_active'],
    ['writer', 'last', blocked, 409, 'task_blocked'],
    ['writer', 'last', {}, 429, 'rate_limited'],
  ] as const)
    await api.refuses(() => delegate(from, to, fields), status, code);
});
