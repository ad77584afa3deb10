import { inOrder } from '../../aws/in-order.ts';
import type { Organization } from '../../contract/organization.ts';
import { type TaskPriority, type TaskStatus, taskPriorities } from '../../contract/tasks/tasks.ts';
import type { Table, TableContext } from '../access/client.ts';
import type { ListScope } from '../access/keys.ts';
import { queryPages } from '../access/reads.ts';
import { type TaskFilter, taskFacet, taskListOf } from './task-items.ts';

/** The statuses of tasks that wait for a worker. */
export const openStatuses: readonly TaskStatus[] = ['backlog', 'assigned'];

/** An open task that is not held, as its row has it. */
export type OpenRow = { id: string; priority: TaskPriority };

/**
 * Yields the open tasks that are not held, by priority and then by age. The first pages of all priorities are read at the same
 * time.
 *
 * @param pageItems how many rows a page has
 */
export async function* readOpenRows(
  { table }: TableContext,
  organization: Organization,
  filter: Pick<TaskFilter, 'agent' | 'project'>,
  pageItems: number,
): AsyncGenerator<OpenRow> {
  const list = taskListOf(organization, filter);
  const started = taskPriorities.toReversed().map((priority) => {
    const ids = idsOf(table, list, priority, pageItems);
    const first = ids.next();
    // A reader may need none of the lower priorities.
    first.catch(() => {});
    return { priority, ids, first };
  });
  for (const { priority, ids, first } of started) {
    const { done, value } = await first;
    if (done) continue;
    yield { id: value, priority };
    for await (const id of ids) yield { id, priority };
  }
}

/** Yields the ids of a priority, the oldest first: the tasks in backlog and the assigned ones are one queue. */
function idsOf(table: Table, list: ListScope, priority: TaskPriority, pageItems: number): AsyncGenerator<string> {
  const facets = openStatuses.map((status) => taskFacet(status, priority));
  return inOrder(
    facets.map((facet) => idsIn(table, list, facet, pageItems)),
    (id) => id,
  );
}

async function* idsIn(table: Table, { rows }: ListScope, facet: string, pageItems: number): AsyncGenerator<string> {
  const range = { pk: rows, from: `${facet}#`, to: `${facet}#~`, ascending: true };
  for await (const { items } of queryPages(table, { ...range, limit: Number.POSITIVE_INFINITY, pageItems }))
    for (const { sk } of items) yield `tk_${(sk as string).slice(facet.length + 1)}`;
}
