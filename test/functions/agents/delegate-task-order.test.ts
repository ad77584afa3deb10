import { beforeEach, describe, expect, it } from 'vitest';
import { type Crew, newDelegation, openCrews } from './crew.ts';

const cap = 4;
const { newCrew } = await openCrews(cap);
let crew: Crew;
let taskId: string;
beforeEach(async () => {
  crew = await newCrew();
  taskId = await crew.board.put();
});

const absent = 'tk_01K00000000000000000000000';
const delegate = (from: string, toAgent: string, fields: object = {}) =>
  crew.delegate({ ...newDelegation, toAgent, taskId, ...fields }, { name: from });

/** Agents of these names, the first of which was executed on the task; each has handed it on to the next. */
async function chainOf(...names: string[]): Promise<void> {
  await crew.start({ taskId }, names[0]);
  for (const [at, name] of names.entries()) if (at > 0) await crew.handOn(names[at - 1] as string, name, { taskId });
}

/** A chain that can go no further, at the cap too. */
async function longestChain(): Promise<void> {
  for (const name of ['reader', 'last']) await crew.registry.put({ name });
  await chainOf('writer', 'qa-reviewer', 'prompt-improver', 'reader');
}

describe('a chain of delegations', () => {
  it('may have three delegations; the fourth is rejected with 409 delegation_too_deep', async () => {
    await longestChain();
    const { details, message } = await crew.refuses(() => delegate('reader', 'last'), 409, 'delegation_too_deep');
    expect(message).toContain('3 times');
    expect(details).toMatchObject([{ path: 'toAgent', code: 'limit' }]);
  });

  it('has no agent twice: 409 delegation_cycle, which names the agent', async () => {
    await chainOf('writer', 'qa-reviewer', 'prompt-improver');
    for (const name of ['writer', 'qa-reviewer']) {
      const { details, message } = await crew.refuses(() => delegate('prompt-improver', name), 409, 'delegation_cycle');
      expect(message).toContain(name);
      expect(details).toMatchObject([
        { path: 'toAgent', code: 'cycle', message: `${name} is in this chain of delegations.` },
      ]);
    }
  });

  it('is of one task: for another, and for none, it may come back', async () => {
    await chainOf('writer', 'qa-reviewer');
    for (const other of [await crew.board.put(), undefined])
      expect((await delegate('qa-reviewer', 'writer', { taskId: other })).status).toBe(200);
  });
});

describe('of two faults, a delegation is rejected for', () => {
  it('the token before the scope, and the scope before the body', async () => {
    const reader = await newCrew(['agents:read']);
    await reader.refuses(() => reader.delegate('{', { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.delegate('{'), 403, 'insufficient_scope');
  });

  it('an absent agent before what it names, itself included', async () => {
    await crew.refuses(() => delegate('absent-agent', 'none', { taskId: absent }), 404, 'not_found');
    await crew.refuses(() => delegate('absent-agent', 'absent-agent'), 404, 'not_found');
  });

  it('an absent task before the agent itself, and the agent itself before its status', async () => {
    await crew.registry.update('writer', { status: 'draft' });
    await crew.refuses(() => delegate('writer', 'writer', { taskId: absent }), 422, 'unknown_reference');
    await crew.refuses(() => delegate('writer', 'writer'), 422, 'self_delegation');
  });

  it('an absent task before an agent that is not active', async () => {
    await crew.registry.update('qa-reviewer', { status: 'draft' });
    await crew.refuses(() => delegate('writer', 'qa-reviewer', { taskId: absent }), 422, 'unknown_reference');
  });

  it('an agent that is not active before a task that waits', async () => {
    const waits = await crew.board.put({ dependsOn: [taskId] });
    await crew.registry.update('qa-reviewer', { status: 'draft' });
    await crew.refuses(() => delegate('writer', 'qa-reviewer', { taskId: waits }), 409, 'agent_not_active');
  });

  it('the cycle before the depth, for each agent of the chain', async () => {
    await longestChain();
    for (const name of ['writer', 'qa-reviewer', 'prompt-improver'])
      await crew.refuses(() => delegate('reader', name), 409, 'delegation_cycle');
  });

  it('each of them before the cap', async () => {
    await longestChain();
    const waits = await crew.board.put({ dependsOn: [taskId] });
    await crew.refuses(() => delegate('absent-agent', 'last'), 404, 'not_found');
    await crew.refuses(() => delegate('reader', 'absent-agent'), 422, 'unknown_reference');
    await crew.refuses(() => delegate('reader', 'reader'), 422, 'self_delegation');
    await crew.refuses(() => delegate('reader', 'writer'), 409, 'delegation_cycle');
    await crew.refuses(() => delegate('reader', 'last'), 409, 'delegation_too_deep');
    await crew.refuses(() => delegate('writer', 'last', { taskId: waits }), 409, 'task_blocked');
    await crew.refuses(() => delegate('writer', 'last'), 429, 'rate_limited');
    await crew.registry.update('last', { status: 'inactive' });
    await crew.refuses(() => delegate('writer', 'last'), 409, 'agent_not_active');
  });
});

it('at the cap a delegation is rejected with 429 rate_limited and Retry-After, and accepted below it', async () => {
  const [first] = await Promise.all(Array.from({ length: cap }, () => crew.start()));
  await crew.refuses(() => delegate('writer', 'qa-reviewer'), 429, 'rate_limited');
  expect((await delegate('writer', 'qa-reviewer')).headers['Retry-After']).toBe('10');
  expect((await crew.board.getTask({ params: { id: taskId } })).headers.ETag).toBe('"1"');
  await crew.carryOut(first as string);
  expect((await delegate('writer', 'qa-reviewer')).status).toBe(200);
});
