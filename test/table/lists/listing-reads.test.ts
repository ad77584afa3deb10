import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type TaskStatus, taskStatuses } from '../../../lib/contract/tasks.ts';
import { utcDays } from '../../../lib/table/deliveries/history-days.ts';
import { keys } from '../../../lib/table/keys.ts';
import { everything, listingWrites, readPage } from '../../../lib/table/lists/listing.ts';
import type { TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { transact } from '../../../lib/table/transact.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { bareTasks, seed } from '../tasks/seed.ts';
import { createTestTable, type TestTable } from '../tasks/test-table.ts';

const firstPage = { limit: 20, offset: 0 };
let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
});

/** Puts a row without an item, as a reader sees it while a write is under way. */
async function putRow(facet: string, ulid: string, filter: { agent?: string; project?: string } = {}): Promise<void> {
  const { table, organization } = board;
  const Item = keys.listRow(keys.taskScope(organization, filter), facet, ulid);
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
}

const idsOf = async (filter: TaskFilter, page = firstPage) => {
  const { items } = await listTasks(board, board.organization, filter, page);
  return items.map(({ id }) => id);
};

describe('a list during a write', () => {
  it('shows a task once that has rows of two facets', async () => {
    const { id } = await board.put({ status: 'done', priority: 'low' });
    await putRow('bl', ulidOf(id));
    expect(await idsOf({ priority: 'low' })).toEqual([id]);
  });

  it('leaves out a row whose item was deleted', async () => {
    const { id } = await board.put();
    const gone = `${ulidOf(id).slice(0, 10)}0000000000000000`;
    await putRow('bm', gone);
    expect(await idsOf({ status: 'backlog' })).toEqual([id]);
  });

  it('leaves out a row whose item no longer matches', async () => {
    const { id } = await board.put({ status: 'backlog', priority: 'low' });
    await putRow('dl', ulidOf(id));
    expect(await idsOf({ status: 'done' })).toEqual([]);
    await putRow(everything, ulidOf(id), { agent: 'qa-reviewer' });
    expect(await idsOf({ agent: 'qa-reviewer' })).toEqual([]);
    await putRow(everything, ulidOf(id), { project: 'proj_apollo' });
    expect(await idsOf({ project: 'proj_apollo' })).toEqual([]);
  });
});

describe('the whole board', () => {
  it('is read from its tasks on the first pages and from its rows on later pages, newest first', async () => {
    const { table, organization } = board;
    const tasks = bareTasks(260, (nth) => Date.UTC(2026, 0, 1) + nth * 3_600_000).map((task, nth) => ({
      ...task,
      status: taskStatuses[nth % taskStatuses.length] as TaskStatus,
    }));
    await seed(table, organization, tasks);
    const newestFirst = tasks.map(({ id }) => id).reverse();
    for (const offset of [0, 100, 190, 210, 250, 260]) {
      const page = { limit: 20, offset };
      const { items, total } = await listTasks(board, organization, {}, page);
      expect({ offset, total, ids: items.map(({ id }) => id) }).toEqual({
        ...{ offset, total: 260 },
        ids: newestFirst.slice(offset, offset + 20),
      });
    }
  });
});

describe('a list of entries that expire', () => {
  const list = keys.attemptScope('org' as Organization, '01KE0000000000000000000000');
  const periods = utcDays;
  const ulidsOf = (day: string) =>
    [1, 2, 3].map((hour) => ulidFrom(Date.parse(`${day}T0${hour}:00:00Z`), new Uint8Array(10)));
  const [old = [], middle = [], recent = []] = ['2026-01-01', '2026-01-02', '2026-01-04'].map(ulidsOf);
  const since = ulidFrom(Date.parse('2026-01-02'), new Uint8Array(10));

  beforeEach(async () => {
    for (const ulid of [...old, ...middle, ...recent]) {
      const membership = { ulid, facet: everything, lists: [list], entry: { copy: ulid } };
      await transact(board.table, listingWrites(undefined, membership, { periods, expiresAt: 1_800_000_000 }));
    }
  });

  it.each([0, 1, 3, 5, 6])('leaves out entries older than `since`, at offset %i', async (offset) => {
    const { rows, total } = await readPage(board.table, { list, limit: 4, offset, periods, since });
    expect(total).toBe(6);
    const counted = [...recent.toReversed(), ...middle.toReversed()];
    expect(rows.map(({ ulid }) => ulid)).toEqual(counted.slice(offset, offset + 4));
  });
});
