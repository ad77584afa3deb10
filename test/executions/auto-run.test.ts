import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../lib/context/context.ts';
import type { NewTask } from '../../lib/contract/tasks/tasks.ts';
import { lookAtAgent, sweepAgents, wakeAgent } from '../../lib/executions/auto-run.ts';
import type { RunResources } from '../../lib/executions/run/generate-output.ts';
import { AgentOrder, type ExecutionMessage } from '../../lib/names/messages.ts';
import { readAgentHead } from '../../lib/table/agents/agents.ts';
import { readWakeUp, type WakeUp } from '../../lib/table/agents/wake-ups.ts';
import { readExecutionPage, readRunningRows } from '../../lib/table/executions/execution-lists.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { settleDependents } from '../../lib/tasks/dependents.ts';
import { getTask, updateTask } from '../../lib/tasks/tasks.ts';
import { testSeed } from '../seeded.ts';
import { between, oneOf, randomFrom } from '../soak/random.ts';
import { type Cost, meter } from '../table/fixtures/capacity.ts';
import { createTestExecutions, scriptedModel, type TestExecutions, text } from './test-executions.ts';
import { conversation, type ScriptedCall } from './tool-scripts.ts';

const failing = scriptedModel({ work: { kind: 'failed', error: 'No ink.', tokens: 0 } }).tools;
const { tools } = scriptedModel();
let world: TestExecutions;
let context: Context;
beforeEach(async () => {
  world = await createTestExecutions({ cap: 5 });
  context = { ...world.context, table: world.table };
  await world.update('writer', { autoRun: true });
});

const look = (name = 'writer') => lookAtAgent(context, world.organization, name);
const assigned = (fields: Partial<NewTask> = {}) =>
  world.addTask({ assignedAgent: 'writer', status: 'assigned', ...fields }).then(({ id }) => id);
const read = async (id: string) => (await world.task(id)) as StoredTask;
const state = async (id: string) => (await getTask(context, world.organization, id)).data.autoRun;
const patch = (id: string, fields: object) => updateTask(context, world.organization, id, fields, () => {});
const agentOf = async (name = 'writer') => {
  const agent = await readAgentHead(context, world.organization, name);
  if (!agent) throw new Error(`There is no agent ${name}.`);
  return agent;
};
const wakeUp = async (): Promise<WakeUp> => readWakeUp(context, world.organization, await agentOf());

/** Returns the messages of the running executions of an agent. */
async function running(name = 'writer'): Promise<ExecutionMessage[]> {
  const rows = await readRunningRows(context, world.organization, (await agentOf(name)).id);
  return rows.map(({ id }) => ({ organization: world.organization, executionId: id }));
}

/** Looks, and lets the executions that it starts run to their ends, until it starts none. */
async function runAll(by = tools, name = 'writer'): Promise<number> {
  let count = 0;
  for (;;) {
    await look(name);
    const started = await running(name);
    if (started.length === 0) return count;
    for (const message of started) await world.finishAll(message, by);
    count += started.length;
  }
}

describe('the service starts an execution for an agent with autoRun', () => {
  it('on each ready task that is assigned to it, with what the task says as its input', async () => {
    const id = await assigned({ title: 'A poem', description: 'In four lines.' });
    await world.addTask({ assignedAgent: 'qa-reviewer' });
    await look();
    const [message] = (await running()) as [ExecutionMessage];
    expect(await world.execution(message)).toMatchObject({
      ...{ taskId: id, input: 'A poem\n\nIn four lines.', startedBy: { kind: 'auto_run' } },
    });
    const page = await readExecutionPage(context, world.organization, {}, { limit: 1, offset: 0 });
    expect(page.items).toMatchObject([{ taskId: id, startedBy: { kind: 'auto_run' } }]);
    expect(await read(id)).toMatchObject({ status: 'in_progress', autoRuns: 1 });
  });

  it('while fewer than maxRunning run, those that a caller has started included', async () => {
    await world.update('writer', { maxRunning: 3 });
    await Promise.all(Array.from({ length: 5 }, () => assigned()));
    await world.start();
    await look();
    expect(await running()).toHaveLength(3);
    await look();
    expect(await running()).toHaveLength(3);
  });

  it('once, although several workers look at the same time', async () => {
    await Promise.all(Array.from({ length: 5 }, () => assigned()));
    await Promise.all([look(), look(), look(), look()]);
    expect(await running()).toHaveLength(1);
  });

  it('by priority, then age, one after the other, until all are done', async () => {
    for (const priority of ['low', 'critical', 'medium'] as const) await assigned({ priority });
    expect(await runAll()).toBe(3);
  });

  it('and reads one page of its ready tasks, however many there are', async () => {
    const { costOf } = meter(world.table);
    const costs: Cost[] = [];
    for (const more of [25, 75]) {
      await Promise.all(Array.from({ length: more }, () => assigned()));
      costs.push({ ...(await costOf(() => look())) });
      await world.cancel((await running())[0] as ExecutionMessage);
    }
    expect(costs[1]?.rcu).toBe(costs[0]?.rcu);
  });

  it('and for no other, and for none that is not active', async () => {
    const id = await assigned();
    await world.update('writer', { autoRun: false });
    await look();
    expect([await running(), await state(id)]).toEqual([[], undefined]);
    await world.update('writer', { autoRun: true, status: 'inactive' });
    await look();
    expect(await running()).toEqual([]);
  });

  it('after the change that lets it start, which the sweeper finds if its message is lost', async () => {
    await assigned();
    expect((await wakeUp()).dueAt).toBeDefined();
    const orders: AgentOrder[] = [];
    const queue = async (messages: readonly { message: unknown }[]) =>
      void orders.push(...messages.map(({ message }) => v.parse(AgentOrder, message)));
    const through = { ...context, queues: new Map([['executions', queue]]) } as unknown as Context;
    await sweepAgents(through, { until: world.clock() });
    await wakeAgent(through, world.organization, 'writer');
    expect(orders.map(({ agentName }) => agentName)).toEqual(['writer', 'writer']);
    await look();
    expect((await wakeUp()).dueAt).toBeUndefined();
  });
});

describe('a task says why it waits:', () => {
  it('for its dependencies, or for another execution of its agent', async () => {
    const dependency = await world.addTask();
    const [blocked, first, second] = [
      await assigned({ dependsOn: [dependency.id] }),
      await assigned(),
      await assigned(),
    ];
    expect(await state(blocked)).toEqual({ state: 'waiting', reason: 'dependencies' });
    await look();
    const waiting = (await read(first)).status === 'assigned' ? first : second;
    expect(await state(waiting)).toEqual({ state: 'waiting', reason: 'running' });
  });

  it('for a limit of the organization; the service looks again when it may start', async () => {
    for (let nth = 0; nth < 5; nth++) await world.start({}, 'qa-reviewer');
    const id = await assigned();
    await look();
    expect([await running(), await state(id)]).toEqual([[], { state: 'waiting', reason: 'limit' }]);
    expect(Date.parse((await wakeUp()).dueAt as string)).toBe(world.clock() + 60_000);
    for (const message of await running('qa-reviewer')) await world.finishAll(message, tools);
    await look();
    expect(await running()).toHaveLength(1);
  });
});

describe('after a failure', () => {
  it('the task is assigned, and no other one starts by itself in its round', async () => {
    const id = await assigned();
    expect(await runAll(failing)).toBe(1);
    const { autoRunFailure } = await read(id);
    expect(await state(id)).toEqual({ state: 'stopped', executionId: autoRunFailure?.executionId, error: 'No ink.' });
    expect((await read(id)).status).toBe('assigned');
  });

  it('autoRetry further ones start', async () => {
    await world.update('writer', { autoRetry: 2 });
    await assigned();
    expect(await runAll(failing)).toBe(3);
  });

  it.each([
    ['its status changes', (id: string) => patch(id, { status: 'backlog' })],
    [
      'it is assigned to another agent and back',
      async (id: string) => {
        await patch(id, { assignedAgent: 'qa-reviewer' });
        await patch(id, { assignedAgent: 'writer' });
      },
    ],
    ['a run by hand has failed', async (id: string) => world.finishAll(await world.start({ taskId: id }), failing)],
  ])('it goes on when %s', async (_, change) => {
    const id = await assigned();
    await runAll(failing);
    await change(id);
    expect(await runAll(failing)).toBe(1);
  });

  it('a cancelled execution is not started again, whatever autoRetry is', async () => {
    await world.update('writer', { autoRetry: 3 });
    const id = await assigned();
    await look();
    await world.cancel((await running())[0] as ExecutionMessage);
    expect(await runAll(failing)).toBe(0);
    expect(await state(id)).toMatchObject({ state: 'stopped', error: 'cancelled' });
  });
});

describe('agents cannot give work to each other for ever:', () => {
  const capabilities = ['tasks.read', 'tasks.write', 'delegate'];

  /** Creates a model whose agent creates a task for another one, or assigns a task to it, and then ends. */
  const giving = (...call: ScriptedCall) => scriptedModel({ work: conversation([[call], 'Done.']) }).tools;
  const creatingFor = (assignedAgent: string) =>
    giving('create_task', { title: 'More', status: 'assigned', assignedAgent });

  /** Lets an agent work on a task of a caller, and returns the tasks that it has given to another one. */
  async function give(by: RunResources, from: string, to: string): Promise<string[]> {
    await runOnce(by, from);
    const items = Object.values(await world.dump()) as { kind?: string; assignedAgent?: string; sk: string }[];
    return items.flatMap(({ kind, assignedAgent, sk }) =>
      kind === 'task' && assignedAgent === to ? [`tk_${sk}`] : [],
    );
  }

  /** Lets the service start one execution of an agent, and lets it run to its end. */
  async function runOnce(by: RunResources, name: string): Promise<void> {
    await look(name);
    const [message] = await running(name);
    if (!message) throw new Error(`The service has started no execution of ${name}.`);
    await world.finishAll(message, by);
  }

  beforeEach(async () => {
    for (const name of ['one', 'two', 'three', 'four']) await world.addAgent(name, { autoRun: true, capabilities });
  });

  it('a task that an agent creates for itself waits for a person', async () => {
    const own = await world.addTask({ assignedAgent: 'one', status: 'assigned' });
    const [created] = (await give(creatingFor('one'), 'one', 'one')).filter((id) => id !== own.id);
    expect(await state(created as string)).toEqual({ state: 'held', reason: 'chain' });
    expect(await runAll(tools, 'one')).toBe(0);
    await patch(created as string, { status: 'backlog' });
    expect(await runAll(tools, 'one')).toBe(1);
  });

  it('two agents that give each other tasks stop after one each', async () => {
    const { id } = await world.addTask({ assignedAgent: 'one', status: 'assigned' });
    expect(await give(creatingFor('two'), 'one', 'two')).toHaveLength(1);
    const [back] = (await give(creatingFor('one'), 'two', 'one')).filter((one) => one !== id);
    expect(await runAll(tools, 'one')).toBe(0);
    expect(await state(back as string)).toEqual({ state: 'held', reason: 'chain' });
  });

  it('a chain has three agents at most', async () => {
    await world.addTask({ assignedAgent: 'one', status: 'assigned' });
    await give(creatingFor('two'), 'one', 'two');
    await give(creatingFor('three'), 'two', 'three');
    const [last] = await give(creatingFor('four'), 'three', 'four');
    expect(await state(last as string)).toEqual({ state: 'held', reason: 'chain' });
    expect(await runAll(tools, 'four')).toBe(0);
  });

  it('a task that an agent without delegate creates or assigns waits for a person', async () => {
    await world.update('one', { capabilities: ['tasks.read', 'tasks.write'] });
    await world.addTask({ assignedAgent: 'one', status: 'assigned' });
    const [created] = await give(creatingFor('two'), 'one', 'two');
    expect(await state(created as string)).toEqual({ state: 'held', reason: 'no_delegate' });
    const other = await world.addTask({ assignedAgent: 'one', status: 'assigned' });
    await world.addTask({ assignedAgent: 'one', priority: 'critical', status: 'assigned' });
    await runOnce(giving('update_task', { id: other.id, assignedAgent: 'two' }), 'one');
    expect(await state(other.id)).toEqual({ state: 'held', reason: 'no_delegate' });
    expect(await runAll(tools, 'two')).toBe(0);
  });

  it('a task that a caller assigns again has no chain any more', async () => {
    await world.addTask({ assignedAgent: 'one', status: 'assigned' });
    const [created] = (await give(creatingFor('two'), 'one', 'two')) as [string];
    await patch(created, { assignedAgent: 'one' });
    expect(await runAll(tools, 'one')).toBe(1);
  });
});

it('a graph of tasks ends, each of them run once and with the results before it, although orders come twice, late and in any order', async () => {
  const random = randomFrom(testSeed);
  const agents = ['writer', 'one'];
  await world.addAgent('one', { autoRun: true, autoAccept: true, maxRunning: 2 });
  await world.update('writer', { autoAccept: true });
  const { tools: gated, asked } = scriptedModel({
    work: ({ user }) => text(`Result of ${/Task \d+/.exec(user)?.[0]}`),
  });
  const tasks: { id: string; title: string; dependsOn: string[] }[] = [];
  for (let nth = 0; nth < 12; nth++) {
    const fields = { title: `Task ${nth}`, assignedAgent: oneOf(random, agents), status: 'assigned' as const };
    const places = nth < 3 ? [] : [between(random, 0, nth - 1), nth - 2];
    const dependsOn = [...new Set(places)].map((place) => tasks[place]?.id as string);
    tasks.push({ ...(await world.addTask({ ...fields, dependsOn })), title: fields.title, dependsOn });
  }

  type Order = () => Promise<void>;
  // Two workers get it at the same time.
  const looks: Order[] = agents.map((name) => async () => void (await Promise.all([look(name), look(name)])));
  const orders = [...looks];
  /** An order that comes up to three times, at any time later. */
  const send = (...sent: Order[]) => {
    for (const order of sent) orders.push(...Array.from({ length: between(random, 1, 3) }, () => order));
  };
  for (;;) {
    const under = (await Promise.all(agents.map((name) => running(name)))).flat();
    if (orders.length === 0 && under.length === 0) break;
    if (orders.length === 0 || (under.length > 0 && random() < 0.2)) {
      const message = oneOf(random, under);
      await world.finishAll(message, gated);
      const { taskId = '' } = (await world.execution(message)) as { taskId?: string };
      send(() => settleDependents(context, world.organization, taskId), ...looks);
    } else {
      const [order] = orders.splice(between(random, 0, orders.length - 1), 1) as [Order];
      await order();
      // What a dependent that has followed sends.
      if (!looks.includes(order)) orders.push(...looks);
    }
  }

  const titleOf = new Map(tasks.map(({ id, title }) => [id, title]));
  const works = asked.filter(({ purpose }) => purpose === 'work').map(({ user }) => user);
  for (const { id, title, dependsOn } of tasks) {
    expect((await read(id)).status).toBe('done');
    const [user = '', ...others] = works.filter((one) => /Task \d+/.exec(one)?.[0] === title);
    expect(others).toEqual([]);
    for (const dependency of dependsOn) expect(user).toContain(`Result of ${titleOf.get(dependency)}`);
  }
});

it('a task whose execution passed both gates is done if its agent accepts by itself', async () => {
  await world.update('writer', { autoAccept: true });
  const [accepted, refused] = [await assigned(), await assigned()];
  await look();
  await world.finishAll((await running())[0] as ExecutionMessage, tools);
  await runAll(scriptedModel({ qaReview: text('VERDICT: FAIL') }).tools);
  const statuses = [(await read(accepted)).status, (await read(refused)).status];
  expect(statuses.toSorted()).toEqual(['done', 'qa_review']);
  const done = (await read(accepted)).status === 'done' ? accepted : refused;
  expect((await read(done)).accepted).toMatchObject({ by: 'gates' });
});
