import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecutionMessage } from '../../../lib/names/messages.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { updateTask } from '../../../lib/tasks/tasks.ts';
import { errorOf } from '../../table/tasks/test-table.ts';
import { createTestExecutions, scriptedModel } from '../test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, delegate } = fixture;
const [a, b, c, d, e] = ['agent-a', 'agent-b', 'agent-c', 'agent-d', 'agent-e'] as const;
const ids = new Map<string | undefined, string>();
for (const name of [a, b, c, d, e]) ids.set((await fixture.addAgent(name)).id, name);

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
  return { ancestors: ancestors?.map((agentId) => ids.get(agentId)).sort(), depth, delegatedBy };
}

// All rules of chains are in the property of delegation-graph.ts; these are examples.
describe('a chain of delegations', () => {
  it('has three delegations at most, and no agent twice; the cycle is reported before the depth', async () => {
    await on(a, b);
    await on(b, c);
    expect(await errorOn(c, a)).toBe('delegation_cycle');
    const { message } = await on(c, d);
    expect(await chainOf(message)).toEqual({ ancestors: [a, b, c], depth: 3, delegatedBy: c });
    expect(await errorOn(d, e)).toBe('delegation_too_deep');
    for (const name of [a, b, c]) expect(await errorOn(d, name)).toBe('delegation_cycle');
  });

  it('that continues several chains has the agents of all, and the depth of the deepest; ended ones do not count', async () => {
    await on(a, b);
    const deep = await on(b, c);
    await execute(c);
    await on(d, c);
    expect(await chainOf((await on(c, e)).message)).toEqual({ ancestors: [a, b, c, d], depth: 3, delegatedBy: c });
    await end(deep.message);
    expect(await chainOf((await on(c, a)).message)).toEqual({ ancestors: [c, d], depth: 2, delegatedBy: c });
  });

  it('is of one task; without a task, it is of executions without one', async () => {
    await on(a, b);
    await delegate(b, a);
    const { message } = await delegate(a, c);
    expect(await chainOf(message)).toEqual({ ancestors: [a, b], depth: 2, delegatedBy: a });
    expect((await errorOf(delegate(c, b)))?.code).toBe('delegation_cycle');
    expect(await chainOf((await on(c, b)).message)).toMatchObject({ ancestors: [c], depth: 1 });
  });

  it('is read again if its task changes during the start', async () => {
    await on(a, b);
    const results = await Promise.allSettled([
      ...[on(b, a), on(b, c), on(b, d)],
      ...[1, 2, 3].map((nth) => updateTask(fixture.app, organization, taskId, { title: `${nth}` }, () => {})),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', ...Array(5).fill('fulfilled')]);
  });
});

it('the delegating agent is named to the model in the user prompt only', async () => {
  await fixture.addAgent('delegating-agent');
  const { message } = await delegate('delegating-agent', b, { taskId });
  const { tools, asked } = scriptedModel();
  await fixture.finish(message, tools);
  expect(asked[0]?.user).toMatch(/^<delegated-by>\ndelegating-agent\n<\/delegated-by>\n\n<task>/);
  for (const { system } of asked) expect(system).not.toContain('delegating-agent');
});

it('a task keeps its running owner, and a task in review stays there', async () => {
  const first = await execute(a);
  await on(a, b);
  expect(await fixture.task(taskId)).toMatchObject({ owner: first.executionId, assignedAgent: a, version: 2 });
  await end(first);
  const { message } = await on(b, c);
  await end(message);
  expect(await fixture.task(taskId)).toMatchObject({ status: 'up_for_review', version: 3 });
});

it('a task without an owner is owned by the delegated execution, and moved at its end', async () => {
  const { message } = await on(a, b);
  const taken = { status: 'in_progress', owner: message.executionId, assignedAgent: b };
  expect(await fixture.task(taskId)).toMatchObject(taken);
  await end(message);
  expect(await fixture.task(taskId)).toMatchObject({ status: 'up_for_review', assignedAgent: b });
});
