import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Difference, findDifferences, repairDifferences } from '../../../../infra/cli/reconcile/differences.ts';
import { deleteAgent } from '../../../../lib/agents/agents.ts';
import { timestamp, ulidOf } from '../../../../lib/contract/ids.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import type { NewWebhook } from '../../../../lib/contract/webhooks/webhooks.ts';
import { type Key, keys } from '../../../../lib/table/access/keys.ts';
import type { Item } from '../../../../lib/table/access/write.ts';
import type { Ending } from '../../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../../lib/table/executions/execution-lists.ts';
import { endExecution } from '../../../../lib/table/executions/executions.ts';
import { createTask, listTasks } from '../../../../lib/tasks/tasks.ts';
import { registerWebhook } from '../../../../lib/webhooks/registration.ts';
import { deleteWebhook } from '../../../../lib/webhooks/webhooks.ts';
import {
  completed,
  createExecutionTable,
  type ExecutionTable,
  failed,
} from '../../../table/executions/execution-table.ts';
import { agents, always, newTask } from '../../../table/tasks/test-table.ts';

let board: ExecutionTable;
let organization: Organization;
/** The items after writes of the stores, which are correct. */
let correct: Record<string, Item>;
/** The id of a task with dependents. */
let dependedOn: string;

const now = () => timestamp(board.clock());
const find = () => findDifferences(board.table, organization, now());
const repair = (differences: readonly Difference[]) => repairDifferences(board.table, differences);
const dump = () => board.dump() as Promise<Record<string, Item>>;
const put = (Item: Item) => board.table.client.send(new PutCommand({ TableName: board.table.name, Item }));
const drop = ({ pk, sk }: Item | Key) =>
  board.table.client.send(new DeleteCommand({ TableName: board.table.name, Key: { pk, sk } }));

/** Starts and ends an execution in one millisecond: a row with 0 differs from a row without a number. */
async function runTo(ending: Ending, agent = board.agent): Promise<void> {
  const leased = await board.leased(await board.start(board.newExecution({}, agent)));
  await endExecution(board, leased, ending, { output: 'Done.' });
}

beforeEach(async () => {
  board = await createExecutionTable();
  organization = board.organization;
  const one = await board.put({ title: 'One' });
  const two = await board.put({ title: 'Two', assignedAgent: agents[0], projectId: 'proj_a', dependsOn: [one.id] });
  const placed = { assignedAgent: agents[0], projectId: 'proj_b' };
  const three = await board.put({ title: 'Three', ...placed, priority: 'high', dependsOn: [one.id, two.id] });
  const gone = await board.put({ title: 'Gone', assignedAgent: agents[1], dependsOn: [three.id] });
  await board.patch(two.id, { status: 'done', projectId: 'proj_b' });
  await board.remove(gone.id);
  dependedOn = one.id;
  await board.start();
  // Without tokens: their sum of the day cannot be derived from items that were deleted.
  await runTo(completed({ durationMs: 0, tokensUsed: 0 }));
  await runTo(failed({ durationMs: 0, tokensUsed: 0 }), await board.createAgent('reader'));
  const register = () => {
    const webhook: NewWebhook = { url: 'https://example.com/hooks', events: ['task.created', 'agent.failed'] };
    return registerWebhook(board.app, organization, webhook, undefined);
  };
  await register();
  await deleteWebhook(board.app, organization, (await register()).id, () => {});
  await board.followTasks();
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
    keys.searchEntries(organization),
  ];
  return {
    partitions,
    items: Object.values(withoutZeros(correct)).filter(({ pk }) => partitions.includes(pk as string)),
  };
}

describe('reconciling', () => {
  it('finds each lost derived item and writes it again', async () => {
    expect(await find()).toEqual([]);
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
    await put({ ...keys.searchEntry(organization, '01K00000000000000000000000'), title: 'Gone', facet: 'bm' });
    expect(await expectRepaired()).toMatchObject(Array(4).fill({ of: 'item', expected: undefined }));
  });

  const executionRow = () =>
    Object.values(correct).find(
      ({ pk, durationMs }) => pk === keys.executionScope(organization).rows && durationMs === 0,
    );
  const taskItem = (title: string) => Object.values(correct).find((item) => item.title === title);

  const allTasks = () => keys.taskScope(organization, {});
  const surplus = 'tk_01K00000000000000000000000';

  it.each<[string, () => Item]>([
    [
      'the purge of an agent that exists',
      () => ({ ...keys.purge(organization, ulidOf(board.agent.id)), kind: 'purge' }),
    ],
    ['the rows of all tasks of earlier versions', () => keys.listRow(allTasks(), '*', ulidOf(dependedOn))],
    ['a wrong number of running executions', () => ({ ...keys.running(organization), running: 7 })],
    ['a wrong number of webhooks', () => ({ ...keys.webhookCount(organization), count: -1 })],
    ['the row of an execution with an old entry', () => ({ ...executionRow(), durationMs: 5 })],
    ['the row of an execution with another start', () => ({ ...executionRow(), by: 'a' })],
    [
      'the row of an execution with an old entry and no start',
      () => ({ ...executionRow(), durationMs: 5, by: undefined }),
    ],
    [
      'the search entry of a task with a former title',
      () => ({ ...keys.searchEntry(organization, ulidOf(dependedOn)), title: 'Won', facet: 'bm' }),
    ],
    ['missing dependents', () => ({ ...taskItem('One'), dependents: undefined })],
    [
      'surplus dependents',
      () => ({ ...taskItem('One'), dependents: new Set([surplus, taskItem('Two')?.id, taskItem('Three')?.id]) }),
    ],
    ['dependents without a dependency', () => ({ ...taskItem('Three'), dependents: new Set([dependedOn]) })],
    [
      'wrong sums in any shard',
      () => ({ ...keys.listCounter(allTasks(), ulidOf(dependedOn).slice(0, 4), 31), bm: -1 }),
    ],
  ])('finds and corrects %s, and changes no other field', async (_, wrong) => {
    await put(wrong());
    expect(await expectRepaired()).toHaveLength(1);
  });

  it('does not create a task again that was deleted after the comparison', async () => {
    const item = correct[`${keys.tasks(organization)} ${ulidOf(dependedOn)}`] as Item;
    const { dependents, ...without } = item;
    await put(without);
    const differences = await find();
    await drop(item);
    await expect(repair(differences)).rejects.toThrow('failed condition');
    expect(await dump()).not.toHaveProperty([`${item.pk} ${item.sk}`]);
  });

  it('does not change another organization', async () => {
    const other = `${organization}-beside` as Organization;
    await createTask(board, other, newTask({ title: 'Theirs' }), undefined);
    await board.followTasks(other);
    await drop(keys.running(organization));
    await repair(await find());
    expect(await findDifferences(board.table, other, now())).toEqual([]);
  });

  it('continues after an interruption, and reports the number of read items and of repaired differences', async () => {
    for (let count = 0; count < 5; count++) await board.start();
    correct = await dump();
    for (const item of derived().items) await drop(item);
    const [read, repaired]: [number[], number[]] = [[], []];
    const differences = await findDifferences(board.table, organization, now(), (items) => read.push(items));
    expect(read.at(-1)).toBeGreaterThanOrEqual(Object.keys(await dump()).length);
    await repair(differences.slice(0, 20));
    expect(await find()).toHaveLength(differences.length - 20);
    // More than one batch of writes repairs.
    expect(differences.length).toBeGreaterThan(25);
    await repairDifferences(board.table, differences, (count) => repaired.push(count));
    expect([repaired[0], repaired.at(-1)]).toEqual([25, differences.length]);
    await expectRepaired();
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

  it('leaves rows of executions that a version before 0.3.0 has written, which lack what has started them', async () => {
    const rows = Object.values(correct).filter(({ by }) => by !== undefined);
    expect(rows.map(({ status }) => status).sort()).toEqual(['completed', 'completed', 'failed', 'failed', 'running']);
    for (const { by, ...older } of rows) await put(older);
    expect(await find()).toEqual([]);
    const { items } = await readExecutionPage(board, organization, {}, { limit: 20, offset: 0 });
    expect(items.map(({ startedBy }) => startedBy)).toEqual([undefined, undefined, undefined]);
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

it('reconciling leaves the lists of a deleted agent to its purge, and finds a missing purge with its lists', async () => {
  const agent = await board.createAgent('painter');
  await board.start(board.newExecution({}, agent));
  await deleteAgent(board.app, organization, 'painter', always);
  expect(await find()).toEqual([]);
  const before = await dump();
  // The executions of a deleted agent are still counted as running.
  expect(before[`${keys.running(organization).pk} -`]?.running).toBe(2);
  const key = keys.purge(organization, ulidOf(agent.id));
  const { rows } = keys.executionScope(organization, key.sk);
  const own = Object.values(before).filter(({ pk }) => pk === rows);
  for (const item of [key, ...own]) await drop(item);
  const differences = await find();
  expect(differences).toHaveLength(1 + own.length);
  await repair(differences);
  const name = `${key.pk} ${key.sk}`;
  const { dueAt, ...left } = (await dump())[name] as Item;
  expect(before[name]).toMatchObject(left);
  expect(await find()).toEqual([]);
});

/** Returns all items except counters of 0, which can exist or not. */
function withoutZeros(items: Record<string, Item>): Record<string, Item> {
  const isZero = ({ pk, sk, ...rest }: Item) =>
    Object.keys(rest).length > 0 && Object.values(rest).every((value) => value === 0);
  const numbersOf = (item: Item) =>
    Object.fromEntries(Object.entries(item).filter(([field, value]) => field === 'durationMs' || value !== 0));
  const kept = Object.entries(items).filter(([, item]) => !isZero(item));
  return Object.fromEntries(kept.map(([name, item]) => [name, numbersOf(item)]));
}
