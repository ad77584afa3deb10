import { expect, it } from 'vitest';
import { maxTasksSearched } from '../../../lib/contract/tasks/task-search.ts';
import { searchEntry } from '../../../lib/table/tasks/search-entries.ts';
import { searchTasks } from '../../../lib/tasks/search-tasks.ts';
import { meter } from '../fixtures/capacity.ts';
import { bareTasks, seed, writeItems } from './seed.ts';
import { createTestTable } from './test-table.ts';

it('a search of 100,000 tasks finds each of them once, and each request reads at most 10,000 entries', async () => {
  const board = await createTestTable();
  const { table, organization } = board;
  const metered = meter(table);
  const title = 'Build the landing page of the customer';
  const tasks = bareTasks(100_000, (nth) => Date.UTC(2025, 0, 1) + nth * 60_000).map((task, nth) => ({
    ...task,
    title: nth % 7_001 === 0 ? `${title} again` : title,
  }));
  const wanted = tasks.filter((task) => task.title !== title);
  await seed(table, organization, wanted);
  await writeItems(
    table,
    tasks.map((task) => searchEntry(organization, task)),
  );

  const found: string[] = [];
  const readUnits: number[] = [];
  let next: string | null | undefined;
  while (next !== null) {
    const before = next;
    const cost = await metered.costOf(async () => {
      const page = await searchTasks(board, organization, 'again', { before, limit: 20 });
      found.push(...page.items.map(({ id }) => id));
      next = page.next;
    });
    expect(cost.requests).toBeLessThanOrEqual(maxTasksSearched / 1_000 + 1);
    readUnits.push(cost.rcu);
  }
  expect(found).toEqual(wanted.map(({ id }) => id).reverse());
  // The last of them finds the end of the list.
  expect(readUnits.length).toBeLessThanOrEqual(100_000 / maxTasksSearched + 1);
  expect(Math.max(...readUnits)).toBeLessThanOrEqual(200);
}, 120_000);
