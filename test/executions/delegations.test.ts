import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecutionMessage } from '../../lib/deployment/messages.ts';
import { readDelegation, readExecutionHead } from '../../lib/table/executions/executions.ts';
import { updateTask } from '../../lib/tasks/tasks.ts';
import { errorOf } from '../table/tasks/board.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, delegate } = fixture;
const [a, b, c, d, e, f] = ['agent-a', 'agent-b', 'agent-c', 'agent-d', 'agent-e', 'agent-f'] as const;
const ids = new Map<string, string>();
for (const name of [a, b, c, d, e, f]) ids.set(name, (await fixture.addAgent(name)).id);

/** A new task for each test: executions on other tasks are not part of its chains. */
let taskId: string;
beforeEach(async () => {
  taskId = (await fixture.addTask()).id;
});

const execute = (name: string) => fixture.start({ taskId }, name);
const on = (from: string, to: string) => delegate(from, to, { taskId });
const end = (message: ExecutionMessage) => fixture.finish(message, scriptedModel().tools);
const errorOn = async (from: string, to: string) => (await errorOf(on(from, to)))?.code;

/** Returns the names of the agents in the chain of an execution, and the number of its delegations. */
async function chainOf({ executionId: id }: ExecutionMessage) {
  const { ancestors, depth, delegatedBy } = (await readExecutionHead(fixture.context, { organization, id })) ?? {};
  const nameOf = (agentId: string) => [...ids].find(([, known]) => known === agentId)?.[0];
  return { ancestors: ancestors?.map(nameOf).sort(), depth, delegatedBy };
}

describe('a chain of delegations', () => {
  it('begins with the first delegation, whether or not the delegating agent is running', async () => {
    const { message } = await on(a, b);
    expect(await chainOf(message)).toEqual({ ancestors: [a], depth: 1, delegatedBy: a });
    await execute(c);
    expect(await chainOf((await on(c, d)).message)).toEqual({ ancestors: [c], depth: 1, delegatedBy: c });
  });

  it('has three delegations at most, from its start and from the agents in it', async () => {
    await execute(a);
    await on(a, b);
    await on(b, c);
    const { message } = await on(c, d);
    expect(await chainOf(message)).toEqual({ ancestors: [a, b, c], depth: 3, delegatedBy: c });
    expect(await errorOn(d, e)).toBe('delegation_too_deep');
    // Earlier executions of the chain can still delegate.
    expect(await chainOf((await on(c, e)).message)).toMatchObject({ depth: 3 });
  });

  it.each([a, b, c])('cannot return to %s, which is in it; the cycle is reported before the depth', async (name) => {
    await on(a, b);
    await on(b, c);
    if (name !== c) expect(await errorOn(c, name)).toBe('delegation_cycle');
    await on(c, d);
    expect(await errorOn(d, name)).toBe('delegation_cycle');
  });

  it('that continues several chains has the agents of all, and the depth of the deepest', async () => {
    await on(a, b);
    await on(b, c);
    await execute(c);
    await on(d, c);
    expect(await chainOf((await on(c, e)).message)).toEqual({ ancestors: [a, b, c, d], depth: 3, delegatedBy: c });
    for (const name of [a, b, d]) expect(await errorOn(c, name)).toBe('delegation_cycle');
    expect(await errorOn(e, f)).toBe('delegation_too_deep');
  });

  it('does not contain executions that have ended', async () => {
    await on(a, b);
    const deep = await on(b, c);
    const flat = await on(d, c);
    expect(await errorOn(c, a)).toBe('delegation_cycle');
    await end(deep.message);
    expect(await chainOf((await on(c, a)).message)).toEqual({ ancestors: [c, d], depth: 2, delegatedBy: c });
    expect(await errorOn(c, d)).toBe('delegation_cycle');
    await end(flat.message);
    expect(await chainOf((await on(c, d)).message)).toEqual({ ancestors: [c], depth: 1, delegatedBy: c });
  });

  it('is of one task; without a task, it is of executions without one', async () => {
    const other = (await fixture.addTask()).id;
    await on(a, b);
    expect(await chainOf((await delegate(b, a, { taskId: other })).message)).toMatchObject({
      ancestors: [b],
      depth: 1,
    });
    const [first, second] = [await delegate(b, a), await delegate(a, c)];
    expect(await chainOf(second.message)).toEqual({ ancestors: [a, b], depth: 2, delegatedBy: a });
    expect((await errorOf(delegate(c, b)))?.code).toBe('delegation_cycle');
    expect(await chainOf((await on(c, b)).message)).toMatchObject({ ancestors: [c], depth: 1 });
    // Other tests have executions without a task too.
    for (const { message } of [first, second]) await end(message);
  });

  it('is read again if its task changes during the start', async () => {
    const { message } = await on(a, b);
    const results = await Promise.allSettled([
      ...[on(b, a), on(b, c), on(b, d)],
      ...[1, 2, 3].map((nth) => updateTask(fixture.app, organization, taskId, { title: `${nth}` }, () => {})),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array(5).fill('fulfilled')]);
    await end(message);
    expect((await fixture.task(taskId))?.status).toBe('up_for_review');
  });
});

describe('a delegation', () => {
  const stateOf = async (id: string) => (await readDelegation(fixture, organization, id))?.status;

  it.each([
    ['completed', undefined],
    ['failed', { work: { kind: 'failed', error: 'No.', tokens: 1 } }],
  ] as const)('is accepted, then running once a worker has it, then %s', async (last, says) => {
    const { delegation, message } = await on(a, b);
    const { delegationId } = delegation;
    expect(await readDelegation(fixture, organization, delegationId)).toEqual(delegation);
    expect(delegation.status).toBe('accepted');
    const seen: unknown[] = [];
    const work = async () => {
      seen.push(await stateOf(delegationId));
      return says?.work ?? text('Done.', 100);
    };
    await fixture.finish(message, scriptedModel({ work }).tools);
    expect([...seen, await stateOf(delegationId)]).toEqual(['running', last]);
  });

  it('stays running between two workers, and fails if both are lost', async () => {
    const { delegation, message } = await on(a, b);
    for (let nth = 0; nth < 2; nth++) {
      await fixture.lease(message.executionId);
      fixture.clock.now += 30_000;
      expect(await stateOf(delegation.delegationId)).toBe('running');
    }
    await end(message);
    expect(await stateOf(delegation.delegationId)).toBe('failed');
    expect(await fixture.execution(message)).toMatchObject({ error: 'lost', delegationId: delegation.delegationId });
  });

  it('that does not exist is not found', async () => {
    expect(await stateOf('dl_01K00000000000000000000000')).toBeUndefined();
  });

  it('names the delegating agent to the model in the user prompt only', async () => {
    await fixture.addAgent('delegating-agent');
    const { message } = await delegate('delegating-agent', b, {
      taskId,
      instruction: 'Sing.',
      context: { key: 'low' },
    });
    const { tools, asked } = scriptedModel();
    await fixture.finish(message, tools);
    expect(asked[0]?.user).toBe(
      [
        '<delegated-by>\ndelegating-agent\n</delegated-by>',
        '<task>\nA task\n</task>',
        '<context>\n{\n  "key": "low"\n}\n</context>',
        '<input>\nSing.\n</input>',
      ].join('\n\n'),
    );
    expect(asked).toHaveLength(3);
    for (const { system } of asked) expect(system).not.toContain('delegating-agent');
    const executed = scriptedModel();
    await fixture.finish(await execute(b), executed.tools);
    expect(executed.asked[0]?.system).toBe(asked[0]?.system);
    expect(executed.asked[0]?.user).not.toContain('delegated-by');
  });

  it('that is rejected writes nothing, and asks no model', async () => {
    await on(a, b);
    const before = await fixture.dump();
    for (const [to, code] of [
      [a, 'delegation_cycle'],
      [b, 'self_delegation'],
      ['absent', 'unknown_reference'],
    ] as const)
      expect(await errorOn(b, to)).toBe(code);
    expect(await fixture.dump()).toEqual(before);
  });
});

describe('the task of a delegation', () => {
  it('keeps its running owner, and is owned by the delegated execution once the first has ended', async () => {
    const first = await execute(a);
    await on(a, b);
    expect(await fixture.task(taskId)).toMatchObject({ owner: first.executionId, assignedAgent: a, version: 2 });
    await end(first);
    const { message } = await on(b, c);
    // A task in review stays there.
    expect(await fixture.task(taskId)).toMatchObject({ status: 'up_for_review', version: 3 });
    await end(message);
    expect(await fixture.task(taskId)).toMatchObject({ status: 'up_for_review', version: 3 });
  });

  it.each([
    ['up_for_review', text('VERDICT: PASS')],
    ['qa_review', text('VERDICT: FAIL')],
  ] as const)('without an owner is moved to %s at its end', async (status, qaReview) => {
    const { message } = await on(a, b);
    expect(await fixture.task(taskId)).toMatchObject({
      ...{ status: 'in_progress', owner: message.executionId, assignedAgent: b },
    });
    await fixture.finish(message, scriptedModel({ qaReview }).tools);
    expect(await fixture.task(taskId)).toMatchObject({ status, assignedAgent: b });
  });
});
