import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAgent, deleteAgent, getAgent } from '../../lib/agents/agents.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { findDifferences, repairDifferences } from '../../lib/reconcile/differences.ts';
import type { RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { endExecution, insertExecution, leaseExecution } from '../../lib/table/executions/executions.ts';
import { type Key, keys } from '../../lib/table/keys.ts';
import type { Item } from '../../lib/table/write.ts';
import { createTask, deleteTask, listTasks, updateTask } from '../../lib/tasks/tasks.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';
import { deleteWebhook } from '../../lib/webhooks/webhooks.ts';
import { agents, always, type Board, newTask, openBoard } from '../table/tasks/board.ts';
import { dumpOf } from '../table-dump.ts';

let board: Board;
let organization: Organization;
let lived: Record<string, Item>;
/** Creates a task with a dependent. */
let foundation: string;

const now = () => timestamp(board.clock());
const counted = () => findDifferences(board.table, organization, now());
const dump = () => dumpOf(board.table, organization) as Promise<Record<string, Item>>;
const ulidOf = (id: string) => id.slice(-26);

/** Starts an execution as an endpoint does, and returns it. */
async function start(agentName: string = agents[0]): Promise<RunningExecution> {
  const { id: agentId = '' } = (await getAgent(board.app, organization, agentName)).data;
  board.clock.now += 1;
  const execution: RunningExecution = {
    organization,
    id: `ex_${board.app.ulid()}`,
    agentId,
    agentName,
    model: 'a-model',
    status: 'running',
    startedAt: now(),
    selfTest: 'pending',
    qaReview: 'pending',
    claims: 0,
  };
  const rest = { dueAt: now(), task: undefined, recordResponse: undefined };
  await insertExecution(board.app, execution, { input: 'Do it.' }, rest);
  return execution;
}

async function end(execution: RunningExecution, status: 'completed' | 'failed'): Promise<void> {
  const leased = await leaseExecution(board, execution, {
    leaseId: status,
    now: now(),
    until: timestamp(board.clock() + 1),
  });
  const gates = { selfTest: 'passed', qaReview: 'skipped' } as const;
  // Ended in the millisecond of its start: a row's nought is no number that is as good as absent.
  const ending = { status, completedAt: now(), durationMs: 0, tokensUsed: 9, ...gates };
  await endExecution(board, leased as RunningExecution, ending, { output: 'Done.' });
}

beforeEach(async () => {
  board = await openBoard();
  organization = board.organization;
  const one = await board.put({ title: 'One' });
  const two = await board.put({ title: 'Two', assignedAgent: agents[0], projectId: 'proj_a', dependsOn: [one.id] });
  const placed = { assignedAgent: agents[0], projectId: 'proj_b' };
  const three = await board.put({ title: 'Three', ...placed, priority: 'high', dependsOn: [one.id, two.id] });
  const gone = await board.put({ title: 'Gone', assignedAgent: agents[1], dependsOn: [three.id] });
  await updateTask(board, organization, two.id, { status: 'done', projectId: 'proj_b' }, always);
  await deleteTask(board, organization, gone.id, always);
  foundation = one.id;
  await start();
  await end(await start(), 'completed');
  await end(await start(agents[1]), 'failed');
  const url = 'https://example.com/hooks';
  const webhook = () =>
    registerWebhook(board.app, organization, { url, events: ['task.created', 'agent.failed'] }, undefined);
  await webhook();
  const { id } = await webhook();
  await deleteWebhook(board.app, organization, id);
  lived = await dump();
});

const put = (Item: Item) => board.table.client.send(new PutCommand({ TableName: board.table.name, Item }));
const drop = ({ pk, sk }: Item | Key) =>
  board.table.client.send(new DeleteCommand({ TableName: board.table.name, Key: { pk, sk } }));

/** Returns the derived items: rows and counters without the items that they are derived from. */
const derived = () => {
  const { rows, counters } = keys.taskScope(organization, {});
  const scopes = [
    keys.taskScope(organization, { agent: agents[0] }),
    keys.taskScope(organization, { project: 'proj_b' }),
    keys.taskScope(organization, { agent: agents[0], project: 'proj_b' }),
    keys.executionScope(organization),
  ];
  const partitions = [
    rows,
    counters,
    ...scopes.flatMap((scope) => [scope.rows, scope.counters]),
    keys.running(organization).pk,
    keys.webhookCount(organization).pk,
    keys.subscriptions(organization, 'task.created'),
  ];
  const items = Object.values(withoutZeros(lived)).filter(({ pk }) => partitions.includes(pk as string));
  return { partitions, items };
};

/** Deletes more derived items than one batch of writes repairs. */
async function dropMany(): Promise<void> {
  for (let count = 0; count < 5; count++) await start();
  lived = await dump();
  for (const item of derived().items) await drop(item);
}

describe('reconciling', () => {
  it('finds no difference after writes of the stores', async () => {
    expect(await counted()).toEqual([]);
  });

  it('finds each lost derived item and writes it again', async () => {
    const { partitions, items } = derived();
    expect(new Set(items.map(({ pk }) => pk))).toEqual(new Set(partitions));
    for (const item of items) {
      await drop(item);
      const differences = await counted();
      expect(differences).toEqual([
        expect.objectContaining({ of: 'item', key: { pk: item.pk, sk: item.sk }, stored: undefined }),
      ]);
      await repairDifferences(board.table, differences);
      expect(await counted()).toEqual([]);
    }
    expect(withoutZeros(await dump())).toEqual(withoutZeros(lived));
  });

  it('finds rows and counters that should not exist, also in empty lists', async () => {
    const nowhere = keys.taskScope(organization, { agent: 'unknown', project: 'proj_none' });
    const ghost = ulidOf(foundation);
    await put({ ...keys.listRow(nowhere, '*', ghost) });
    await put({ ...keys.listCounter(nowhere, ghost.slice(0, 4), 1), bm: 3 });
    await put({ ...keys.subscription(organization, 'task.completed', ghost) });
    const differences = await counted();
    expect(differences.map((one) => one.of === 'item' && one.expected)).toEqual([undefined, undefined, undefined]);
    await repairDifferences(board.table, differences);
    expect(await dump()).toEqual(lived);
  });

  it('finds the rows of the list of all tasks that earlier versions wrote', async () => {
    await put(keys.listRow(keys.taskScope(organization, {}), '*', ulidOf(foundation)));
    await repairDifferences(board.table, await counted());
    expect(await dump()).toEqual(lived);
  });

  it('finds a wrong number and corrects it', async () => {
    await put({ ...keys.running(organization), running: 7 });
    await put({ ...keys.webhookCount(organization), count: -1 });
    await repairDifferences(board.table, await counted());
    expect(await dump()).toEqual(lived);
  });

  it('finds the row of an execution with an old entry', async () => {
    const { rows: pk } = keys.executionScope(organization);
    const row = Object.values(lived).find((item) => item.pk === pk && item.durationMs === 0);
    await put({ ...row, durationMs: 5 });
    const differences = await counted();
    expect(differences).toHaveLength(1);
    await repairDifferences(board.table, differences);
    expect(await dump()).toEqual(lived);
  });

  it('finds missing and surplus dependents, and changes no other field of the task', async () => {
    const Key = keys.task(organization, ulidOf(foundation));
    const set = (UpdateExpression: string, values?: Item) =>
      board.table.client.send(
        new UpdateCommand({
          TableName: board.table.name,
          Key,
          UpdateExpression,
          ...(values && { ExpressionAttributeValues: values }),
        }),
      );
    for (const breaking of [
      () => set('REMOVE dependents'),
      () => set('ADD dependents :ghost', { ':ghost': new Set(['tk_01K00000000000000000000000']) }),
    ]) {
      await breaking();
      const differences = await counted();
      expect(differences).toEqual([expect.objectContaining({ of: 'dependents', key: Key })]);
      await repairDifferences(board.table, differences);
      expect(await dump()).toEqual(lived);
    }
  });

  it('removes the dependents of a task on which no task depends', async () => {
    const three = Object.values(lived).find(({ title }) => title === 'Three') as Item;
    await put({ ...three, dependents: new Set([foundation]) });
    await repairDifferences(board.table, await counted());
    expect(await dump()).toEqual(lived);
  });

  it('does not create a task again that was deleted after the comparison', async () => {
    const item = lived[`${keys.tasks(organization)} ${ulidOf(foundation)}`] as Item;
    const { dependents: _, ...without } = item;
    await put(without);
    const differences = await counted();
    await drop(item);
    await expect(repairDifferences(board.table, differences)).rejects.toThrow('failed condition');
    expect(await dump()).not.toHaveProperty([`${item.pk} ${item.sk}`]);
  });

  it('does not change another organization', async () => {
    const { organization: other } = await openBoardBeside();
    await drop(keys.running(organization));
    await repairDifferences(board.table, await counted());
    expect(await findDifferences(board.table, other, now())).toEqual([]);
  });

  it('continues after an interruption', async () => {
    await dropMany();
    const differences = await counted();
    expect(differences.length).toBeGreaterThan(25);
    await repairDifferences(board.table, differences.slice(0, 20));
    expect(await counted()).toHaveLength(differences.length - 20);
    await repairDifferences(board.table, await counted());
    await repairDifferences(board.table, differences);
    expect(withoutZeros(await dump())).toEqual(withoutZeros(lived));
  });

  it('reports the number of read items and of repaired differences', async () => {
    await dropMany();
    const read: number[] = [];
    const differences = await findDifferences(board.table, organization, now(), (items) => read.push(items));
    expect(read.at(-1)).toBeGreaterThanOrEqual(Object.keys(await dump()).length);
    const done: number[] = [];
    await repairDifferences(board.table, differences, (count) => done.push(count));
    expect(done.length).toBeGreaterThan(1);
    expect([done[0], done.at(-1)]).toEqual([25, differences.length]);
  });
});

describe('reconciling the items of a deleted agent', () => {
  const writer = 'writer';

  /** Creates an agent with an execution and deletes it, without its purge. */
  async function deleted(): Promise<Item> {
    const agent = { displayName: 'W', category: 'business', systemPrompt: '', soul: '' } as const;
    await createAgent(
      board.app,
      organization,
      { name: writer, ...agent, capabilities: [], status: 'active' },
      undefined,
    );
    const execution = await start(writer);
    await deleteAgent(board.app, organization, writer, always);
    return { ...keys.purge(organization, ulidOf(execution.agentId)) };
  }

  it('leaves its lists to its purge, but counts its running executions', async () => {
    await deleted();
    expect(await counted()).toEqual([]);
    expect((await dump())[`${keys.running(organization).pk} -`]?.running).toBe(2);
  });

  it('finds a missing purge, and does not change a complete one', async () => {
    const purge = await deleted();
    const before = await dump();
    await drop(purge);
    const { rows } = keys.executionScope(organization, purge.sk as string);
    const own = Object.values(before).filter(({ pk }) => pk === rows);
    for (const row of own) await drop(row);
    const differences = await counted();
    expect(differences).toHaveLength(1 + own.length);
    await repairDifferences(board.table, differences);
    const { dueAt: _, ...left } = (await dump())[`${purge.pk} ${purge.sk}`] as Item;
    expect(before[`${purge.pk} ${purge.sk}`]).toMatchObject(left);
    expect(await counted()).toEqual([]);
  });

  it('finds no difference if the counts are in other shards and their sums are right', async () => {
    const { counters } = keys.taskScope(organization, {});
    const [counter] = Object.values(lived).filter(({ pk }) => pk === counters) as [Item];
    const { pk, sk, ...numbers } = counter as Item & Key;
    await put({ pk, sk, ...Object.fromEntries(Object.keys(numbers).map((run) => [run, -7])) });
    const rest = Object.entries(numbers).map(([run, number]) => [run, 7 + (number as number)]);
    await put({ pk, sk: `${sk.slice(0, -1)}31`, ...Object.fromEntries(rest) });
    expect(await counted()).toEqual([]);
  });

  it('adds the number of all items to counters without it', async () => {
    const { counters } = keys.taskScope(organization, {});
    const mine = Object.values(lived).filter(({ pk }) => pk === counters);
    for (const { '*': _, ...older } of mine) await put(older);
    expect((await listTasks(board, organization, {}, { limit: 20, offset: 0 })).total).toBe(0);
    await repairDifferences(board.table, await counted());
    expect((await listTasks(board, organization, {}, { limit: 20, offset: 0 })).total).toBe(3);
    expect(withoutZeros(await dump())).toEqual(withoutZeros(lived));
  });

  it('finds wrong sums in any shard, and writes each count to the shard of its item', async () => {
    const { counters: pk } = keys.taskScope(organization, {});
    const period = ulidOf(foundation).slice(0, 4);
    await put({ pk, sk: `${period}#31`, bm: -1 });
    const differences = await counted();
    expect(differences).toEqual([expect.objectContaining({ key: { pk, sk: `${period}#31` }, expected: undefined })]);
    await repairDifferences(board.table, differences);
    expect(await dump()).toEqual(lived);
  });

  it('removes the purge of an agent that exists', async () => {
    const agent = await getAgent(board.app, organization, agents[0]);
    await put({ ...keys.purge(organization, ulidOf(agent.data.id)), kind: 'purge' });
    await repairDifferences(board.table, await counted());
    expect(await dump()).toEqual(lived);
  });
});

/** Another organization in the same table. */
async function openBoardBeside(): Promise<{ organization: Organization }> {
  const organization = `${board.organization}-beside` as Organization;
  await createTask(board, organization, newTask({ title: 'Theirs' }), undefined);
  return { organization };
}

/** Returns all items except counters of 0, which can exist or not. */
function withoutZeros(items: Record<string, Item>): Record<string, Item> {
  const isNought = ({ pk: _, sk: __, ...rest }: Item) =>
    Object.keys(rest).length > 0 && Object.values(rest).every((value) => value === 0);
  return Object.fromEntries(
    Object.entries(items)
      .filter(([, item]) => !isNought(item))
      .map(([name, item]) => [
        name,
        Object.fromEntries(Object.entries(item).filter(([field, value]) => field === 'durationMs' || value !== 0)),
      ]),
  );
}
