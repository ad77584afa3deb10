import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAgent, deleteAgent, getAgent } from '../../lib/agents/agents.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { type Difference, findDifferences, repairDifferences } from '../../lib/reconcile/differences.ts';
import type { RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { endExecution, insertExecution, leaseExecution } from '../../lib/table/executions/executions.ts';
import { type Key, keys } from '../../lib/table/keys.ts';
import type { Item } from '../../lib/table/write.ts';
import { createTask, deleteTask, listTasks, updateTask } from '../../lib/tasks/tasks.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';
import { deleteWebhook } from '../../lib/webhooks/webhooks.ts';
import { agents, always, createTestTable, newTask, type TestTable } from '../table/tasks/test-table.ts';
import { dumpOf } from '../table-dump.ts';

let board: TestTable;
let organization: Organization;
/** The items after writes of the stores, which are correct. */
let correct: Record<string, Item>;
/** The id of a task with dependents. */
let dependedOn: string;

const now = () => timestamp(board.clock());
const find = () => findDifferences(board.table, organization, now());
const repair = (differences: readonly Difference[]) => repairDifferences(board.table, differences);
const dump = () => dumpOf(board.table, organization) as Promise<Record<string, Item>>;
const put = (Item: Item) => board.table.client.send(new PutCommand({ TableName: board.table.name, Item }));
const drop = ({ pk, sk }: Item | Key) =>
  board.table.client.send(new DeleteCommand({ TableName: board.table.name, Key: { pk, sk } }));

/** Starts an execution as an endpoint does, and returns it. */
async function start(agentName: string = agents[0]): Promise<RunningExecution> {
  const { id: agentId = '' } = (await getAgent(board.app, organization, agentName)).data;
  board.clock.now += 1;
  const execution: RunningExecution = {
    ...{ organization, id: `ex_${board.app.ulid()}`, agentId, agentName, model: 'a-model' },
    ...{ status: 'running', startedAt: now(), selfTest: 'pending', qaReview: 'pending', claims: 0 },
  };
  const rest = { dueAt: now(), task: undefined, recordResponse: undefined };
  await insertExecution(board.app, execution, { input: 'Do it.' }, rest);
  return execution;
}

async function end(execution: RunningExecution, status: 'completed' | 'failed'): Promise<void> {
  const lease = { leaseId: status, now: now(), until: timestamp(board.clock() + 1) };
  const leased = (await leaseExecution(board, execution, lease)) as RunningExecution;
  const gates = { selfTest: 'passed', qaReview: 'skipped' } as const;
  // Ended in the millisecond of its start: a row with 0 differs from a row without a number.
  const ending = { status, completedAt: now(), durationMs: 0, tokensUsed: 9, ...gates };
  await endExecution(board, leased, ending, { output: 'Done.' });
}

beforeEach(async () => {
  board = await createTestTable();
  organization = board.organization;
  const one = await board.put({ title: 'One' });
  const two = await board.put({ title: 'Two', assignedAgent: agents[0], projectId: 'proj_a', dependsOn: [one.id] });
  const placed = { assignedAgent: agents[0], projectId: 'proj_b' };
  const three = await board.put({ title: 'Three', ...placed, priority: 'high', dependsOn: [one.id, two.id] });
  const gone = await board.put({ title: 'Gone', assignedAgent: agents[1], dependsOn: [three.id] });
  await updateTask(board, organization, two.id, { status: 'done', projectId: 'proj_b' }, always);
  await deleteTask(board, organization, gone.id, always);
  dependedOn = one.id;
  await start();
  await end(await start(), 'completed');
  await end(await start(agents[1]), 'failed');
  const webhook = { url: 'https://example.com/hooks', events: ['task.created', 'agent.failed'] as const };
  const register = () =>
    registerWebhook(board.app, organization, { ...webhook, events: [...webhook.events] }, undefined);
  await register();
  await deleteWebhook(board.app, organization, (await register()).id);
  correct = await dump();
});

/** Repairs all differences, and expects the items to be correct again. Returns the differences. */
async function expectRepaired(): Promise<Difference[]> {
  const differences = await find();
  await repair(differences);
  expect(withoutZeros(await dump())).toEqual(withoutZeros(correct));
  return differences;
}

/** Returns the partitions of derived items, and the derived items: rows and counters. */
function derived(): { partitions: string[]; items: Item[] } {
  const lists = [
    keys.taskScope(organization, {}),
    keys.taskScope(organization, { agent: agents[0] }),
    keys.taskScope(organization, { project: 'proj_b' }),
    keys.taskScope(organization, { agent: agents[0], project: 'proj_b' }),
    keys.executionScope(organization),
  ];
  const partitions = [
    ...lists.flatMap((list) => [list.rows, list.counters]),
    keys.running(organization).pk,
    keys.webhookCount(organization).pk,
    keys.subscriptions(organization, 'task.created'),
  ];
  return {
    partitions,
    items: Object.values(withoutZeros(correct)).filter(({ pk }) => partitions.includes(pk as string)),
  };
}

/** Deletes more derived items than one batch of writes repairs. */
async function dropMany(): Promise<void> {
  for (let count = 0; count < 5; count++) await start();
  correct = await dump();
  for (const item of derived().items) await drop(item);
}

describe('reconciling', () => {
  it('finds no difference after writes of the stores', async () => {
    expect(await find()).toEqual([]);
  });

  it('finds each lost derived item and writes it again', async () => {
    const { partitions, items } = derived();
    expect(new Set(items.map(({ pk }) => pk))).toEqual(new Set(partitions));
    for (const item of items) {
      await drop(item);
      const key = { pk: item.pk, sk: item.sk };
      expect(await expectRepaired()).toMatchObject([{ of: 'item', key, stored: undefined }]);
    }
  });

  it('finds rows and counters that should not exist, also in empty lists', async () => {
    const nowhere = keys.taskScope(organization, { agent: 'unknown', project: 'proj_none' });
    const ulid = ulidOf(dependedOn);
    await put({ ...keys.listRow(nowhere, '*', ulid) });
    await put({ ...keys.listCounter(nowhere, ulid.slice(0, 4), 1), bm: 3 });
    await put({ ...keys.subscription(organization, 'task.completed', ulid) });
    const surplus = { of: 'item', expected: undefined };
    expect(await expectRepaired()).toMatchObject([surplus, surplus, surplus]);
  });

  const executionRow = () =>
    Object.values(correct).find(
      ({ pk, durationMs }) => pk === keys.executionScope(organization).rows && durationMs === 0,
    );
  const taskItem = (title: string) => Object.values(correct).find((item) => item.title === title);

  const purgeOfAgent = async () => {
    const { data } = await getAgent(board.app, organization, agents[0]);
    return { ...keys.purge(organization, ulidOf(data.id)), kind: 'purge' };
  };

  it.each<[string, () => Item | Promise<Item>]>([
    ['the purge of an agent that exists', purgeOfAgent],
    [
      'the rows of the list of all tasks that earlier versions wrote',
      () => keys.listRow(keys.taskScope(organization, {}), '*', ulidOf(dependedOn)),
    ],
    ['a wrong number of running executions', () => ({ ...keys.running(organization), running: 7 })],
    ['a wrong number of webhooks', () => ({ ...keys.webhookCount(organization), count: -1 })],
    ['the row of an execution with an old entry', () => ({ ...executionRow(), durationMs: 5 })],
    ['missing dependents', () => ({ ...taskItem('One'), dependents: undefined })],
    [
      'surplus dependents',
      () => ({
        ...taskItem('One'),
        dependents: new Set(['tk_01K00000000000000000000000', taskItem('Two')?.id, taskItem('Three')?.id]),
      }),
    ],
    [
      'dependents of a task on which no task depends',
      () => ({ ...taskItem('Three'), dependents: new Set([dependedOn]) }),
    ],
    [
      'wrong sums in any shard',
      () => ({ pk: keys.taskScope(organization, {}).counters, sk: `${ulidOf(dependedOn).slice(0, 4)}#31`, bm: -1 }),
    ],
  ])('finds and corrects %s, and changes no other field', async (_, wrong) => {
    await put(await wrong());
    expect(await expectRepaired()).toHaveLength(1);
  });

  it('does not create a task again that was deleted after the comparison', async () => {
    const item = correct[`${keys.tasks(organization)} ${ulidOf(dependedOn)}`] as Item;
    const { dependents: _, ...without } = item;
    await put(without);
    const differences = await find();
    await drop(item);
    await expect(repair(differences)).rejects.toThrow('failed condition');
    expect(await dump()).not.toHaveProperty([`${item.pk} ${item.sk}`]);
  });

  it('does not change another organization', async () => {
    const other = `${organization}-beside` as Organization;
    await createTask(board, other, newTask({ title: 'Theirs' }), undefined);
    await drop(keys.running(organization));
    await repair(await find());
    expect(await findDifferences(board.table, other, now())).toEqual([]);
  });

  it('continues after an interruption', async () => {
    await dropMany();
    const differences = await find();
    await repair(differences.slice(0, 20));
    expect(await find()).toHaveLength(differences.length - 20);
    await repair(differences);
    await expectRepaired();
  });

  it('reports the number of read items and of repaired differences', async () => {
    await dropMany();
    const [read, repaired]: [number[], number[]] = [[], []];
    const differences = await findDifferences(board.table, organization, now(), (items) => read.push(items));
    expect(read.at(-1)).toBeGreaterThanOrEqual(Object.keys(await dump()).length);
    await repairDifferences(board.table, differences, (count) => repaired.push(count));
    expect(differences.length).toBeGreaterThan(25);
    expect([repaired[0], repaired.at(-1)]).toEqual([25, differences.length]);
  });

  it('finds no difference if the counts are in other shards and their sums are right', async () => {
    const { counters } = keys.taskScope(organization, {});
    const [counter] = Object.values(correct).filter(({ pk }) => pk === counters) as [Item];
    const { pk, sk, ...numbers } = counter as Item & Key;
    await put({ pk, sk, ...Object.fromEntries(Object.keys(numbers).map((facet) => [facet, -7])) });
    const rest = Object.entries(numbers).map(([facet, number]) => [facet, 7 + (number as number)]);
    await put({ pk, sk: `${sk.slice(0, -1)}31`, ...Object.fromEntries(rest) });
    expect(await find()).toEqual([]);
  });

  it('adds the number of all items to counters without it', async () => {
    const { counters } = keys.taskScope(organization, {});
    const total = async () => (await listTasks(board, organization, {}, { limit: 20, offset: 0 })).total;
    for (const { '*': _, ...older } of Object.values(correct).filter(({ pk }) => pk === counters)) await put(older);
    expect(await total()).toBe(0);
    await expectRepaired();
    expect(await total()).toBe(3);
  });
});

describe('reconciling the items of a deleted agent', () => {
  /** Creates an agent with an execution and deletes it, without its purge; returns the key of its purge. */
  async function deleteWriter(): Promise<Key> {
    const fields = { displayName: 'W', category: 'business', systemPrompt: '', soul: '' } as const;
    const writer = { name: 'writer', ...fields, capabilities: [], status: 'active' } as const;
    await createAgent(board.app, organization, { ...writer, capabilities: [] }, undefined);
    const execution = await start('writer');
    await deleteAgent(board.app, organization, 'writer', always);
    return keys.purge(organization, ulidOf(execution.agentId));
  }

  it('leaves its lists to its purge, but counts its running executions', async () => {
    await deleteWriter();
    expect(await find()).toEqual([]);
    expect((await dump())[`${keys.running(organization).pk} -`]?.running).toBe(2);
  });

  it('finds a missing purge with its lists', async () => {
    const key = await deleteWriter();
    const name = `${key.pk} ${key.sk}`;
    const before = await dump();
    await drop(key);
    const { rows } = keys.executionScope(organization, key.sk);
    const own = Object.values(before).filter(({ pk }) => pk === rows);
    for (const row of own) await drop(row);
    const differences = await find();
    expect(differences).toHaveLength(1 + own.length);
    await repair(differences);
    const { dueAt: _, ...left } = (await dump())[name] as Item;
    expect(before[name]).toMatchObject(left);
    expect(await find()).toEqual([]);
  });
});

/** Returns all items except counters of 0, which can exist or not. */
function withoutZeros(items: Record<string, Item>): Record<string, Item> {
  const isZero = ({ pk: _, sk: __, ...rest }: Item) =>
    Object.keys(rest).length > 0 && Object.values(rest).every((value) => value === 0);
  const numbersOf = (item: Item) =>
    Object.fromEntries(Object.entries(item).filter(([field, value]) => field === 'durationMs' || value !== 0));
  const kept = Object.entries(items).filter(([, item]) => !isZero(item));
  return Object.fromEntries(kept.map(([name, item]) => [name, numbersOf(item)]));
}
