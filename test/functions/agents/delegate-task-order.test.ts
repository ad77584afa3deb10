import { beforeEach, describe, expect, it } from 'vitest';
import { createTestExecutions, type ExecutionsApi, newDelegation } from './test-executions.ts';

const cap = 4;
const { newExecutionsApi } = await createTestExecutions(cap);
let api: ExecutionsApi;
let taskId: string;
beforeEach(async () => {
  api = await newExecutionsApi();
  taskId = await api.tasks.put();
});

const absent = 'tk_01K00000000000000000000000';
const delegate = (from: string, toAgent: string, fields: object = {}) =>
  api.delegate({ ...newDelegation, toAgent, taskId, ...fields }, { name: from });

/** Starts an execution of the first agent on the task, and delegates from each agent to the next. */
async function chainOf(...names: string[]): Promise<void> {
  await api.start({ taskId }, names[0]);
  for (const [at, name] of names.entries())
    if (at > 0) await api.startDelegated(names[at - 1] as string, name, { taskId });
}

/** Creates a chain of the longest length, at the cap. */
async function longestChain(): Promise<void> {
  for (const name of ['reader', 'last']) await api.agents.put({ name });
  await chainOf('writer', 'qa-reviewer', 'prompt-improver', 'reader');
}

describe('a chain of delegations', () => {
  it('can have three delegations; the fourth is rejected with 409 delegation_too_deep', async () => {
    await longestChain();
    const { details, message } = await api.refuses(() => delegate('reader', 'last'), 409, 'delegation_too_deep');
    expect(message).toContain('3 times');
    expect(details).toMatchObject([{ path: 'toAgent', code: 'limit' }]);
  });

  it('cannot have an agent twice: 409 delegation_cycle with the agent', async () => {
    await chainOf('writer', 'qa-reviewer', 'prompt-improver');
    for (const name of ['writer', 'qa-reviewer']) {
      const { details, message } = await api.refuses(() => delegate('prompt-improver', name), 409, 'delegation_cycle');
      expect(message).toContain(name);
      expect(details).toMatchObject([
        { path: 'toAgent', code: 'cycle', message: `${name} is in this chain of delegations.` },
      ]);
    }
  });

  it('is of one task: for another task or no task, an agent can delegate back', async () => {
    await chainOf('writer', 'qa-reviewer');
    for (const other of [await api.tasks.put(), undefined])
      expect((await delegate('qa-reviewer', 'writer', { taskId: other })).status).toBe(200);
  });
});

describe('with two errors, a delegation is rejected for', () => {
  it('the token before the scope, and the scope before the body', async () => {
    const reader = await newExecutionsApi(['agents:read']);
    await reader.refuses(() => reader.delegate('{', { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.delegate('{'), 403, 'insufficient_scope');
  });

  it('an absent agent before an absent task, and before itself', async () => {
    await api.refuses(() => delegate('absent-agent', 'none', { taskId: absent }), 404, 'not_found');
    await api.refuses(() => delegate('absent-agent', 'absent-agent'), 404, 'not_found');
  });

  it('an absent task before the agent itself, and the agent itself before its status', async () => {
    await api.agents.update('writer', { status: 'draft' });
    await api.refuses(() => delegate('writer', 'writer', { taskId: absent }), 422, 'unknown_reference');
    await api.refuses(() => delegate('writer', 'writer'), 422, 'self_delegation');
  });

  it('an absent task before an agent that is not active', async () => {
    await api.agents.update('qa-reviewer', { status: 'draft' });
    await api.refuses(() => delegate('writer', 'qa-reviewer', { taskId: absent }), 422, 'unknown_reference');
  });

  it('an agent that is not active before a blocked task', async () => {
    const waits = await api.tasks.put({ dependsOn: [taskId] });
    await api.agents.update('qa-reviewer', { status: 'draft' });
    await api.refuses(() => delegate('writer', 'qa-reviewer', { taskId: waits }), 409, 'agent_not_active');
  });

  it('the cycle before the depth, for each agent of the chain', async () => {
    await longestChain();
    for (const name of ['writer', 'qa-reviewer', 'prompt-improver'])
      await api.refuses(() => delegate('reader', name), 409, 'delegation_cycle');
  });

  it('each of them before the cap', async () => {
    await longestChain();
    const waits = await api.tasks.put({ dependsOn: [taskId] });
    await api.refuses(() => delegate('absent-agent', 'last'), 404, 'not_found');
    await api.refuses(() => delegate('reader', 'absent-agent'), 422, 'unknown_reference');
    await api.refuses(() => delegate('reader', 'reader'), 422, 'self_delegation');
    await api.refuses(() => delegate('reader', 'writer'), 409, 'delegation_cycle');
    await api.refuses(() => delegate('reader', 'last'), 409, 'delegation_too_deep');
    await api.refuses(() => delegate('writer', 'last', { taskId: waits }), 409, 'task_blocked');
    await api.refuses(() => delegate('writer', 'last'), 429, 'rate_limited');
    await api.agents.update('last', { status: 'inactive' });
    await api.refuses(() => delegate('writer', 'last'), 409, 'agent_not_active');
  });
});

it('at the cap a delegation is rejected with 429 rate_limited and Retry-After, and accepted below it', async () => {
  const [first] = await Promise.all(Array.from({ length: cap }, () => api.start()));
  await api.refuses(() => delegate('writer', 'qa-reviewer'), 429, 'rate_limited');
  expect((await delegate('writer', 'qa-reviewer')).headers['Retry-After']).toBe('10');
  expect((await api.tasks.getTask({ params: { id: taskId } })).headers.ETag).toBe('"1"');
  await api.carryOut(first as string);
  expect((await delegate('writer', 'qa-reviewer')).status).toBe(200);
});
