import { beforeEach, describe, expect, it } from 'vitest';
import { createTestExecutions, type ExecutionsApi, newDelegation } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions(4);
let api: ExecutionsApi;
let taskId: string;
const delegate = (from: string, toAgent: string, fields: object = {}) =>
  api.delegate({ ...newDelegation, toAgent, taskId, ...fields }, { name: from });

/** Creates a chain of three delegations, the longest one, which is at the cap. */
beforeEach(async () => {
  api = await newExecutionsApi();
  taskId = await api.tasks.put();
  for (const name of ['reader', 'last']) await api.agents.put({ name });
  await api.start({ taskId });
  await api.startDelegated('writer', 'qa-reviewer', { taskId });
  await api.startDelegated('qa-reviewer', 'prompt-improver', { taskId });
  await api.startDelegated('prompt-improver', 'reader', { taskId });
});

describe('at the end of the longest chain a delegation is rejected', () => {
  it('with 409 delegation_too_deep, which names the limit', async () => {
    const { details, message } = await api.refuses(() => delegate('reader', 'last'), 409, 'delegation_too_deep');
    expect(message).toContain('3 times');
    expect(details).toMatchObject([{ path: 'toAgent', code: 'limit' }]);
  });

  it.each(['writer', 'qa-reviewer', 'prompt-improver'])(
    'with 409 delegation_cycle to %s, which is in the chain, rather than for its depth',
    async (name) => {
      const { details, message } = await api.refuses(() => delegate('reader', name), 409, 'delegation_cycle');
      expect(message).toContain(name);
      expect(details).toMatchObject([
        { path: 'toAgent', code: 'cycle', message: `${name} is in this chain of delegations.` },
      ]);
    },
  );
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
