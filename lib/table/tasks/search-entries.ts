import { isDeepStrictEqual } from 'node:util';
import type { CursorPage } from '../../contract/endpoint.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { maxTasksSearched } from '../../contract/tasks/task-search.ts';
import type { Task } from '../../contract/tasks/tasks.ts';
import { type BatchingContext, deleteInBatch, putInBatch } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { queryPages } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import { pageFromParts } from '../events/event-feed.ts';
import { justBefore } from '../events/positions.ts';
import { facetsOf, type TaskFilter, taskFacet } from './task-items.ts';
import { readTask } from './tasks.ts';

/**
 * The entries of the search of tasks: one small item for each task, in a partition that has nothing else. A search reads
 * them in place of the tasks, whose descriptions are long. An entry of up to 1 KB takes one write unit.
 *
 * The stream writes the entries, about a second after the tasks. An entry is right in the end, for these reasons:
 *
 * - The stream gives the changes of a task in order. A batch that fails is repeated from its first failed change to its end,
 *   so the last write of an entry is the write of the last change: a put, or a deletion that nothing follows. Changes of one
 *   task in the same batch are written one after the other (`putInBatch`).
 * - Only a dead letter that is redriven comes late: the task may have changed or be deleted. Its entry is therefore derived
 *   from the task as it is (`renewSearchEntry`), not from the images of the change.
 * - A search reads each task that it returns, so an entry that is not right yet leads to no wrong result.
 */

/** Returns the search entry of a task. Its attributes have short names, because a search reads thousands of entries. */
export function searchEntry(organization: Organization, task: Task): Item {
  const { id, title, status, priority, assignedAgent: agent, projectId: project } = task;
  return {
    ...keys.searchEntry(organization, ulidOf(id)),
    title,
    facet: taskFacet(status, priority),
    ...(agent && { agent }),
    ...(project && { project }),
  };
}

/**
 * Writes the search entry of a task that has changed, if the entry differs. Changes of one task must come in order.
 *
 * @param before `undefined` for a new task
 * @param after `undefined` for a deleted task
 */
export async function followTask(
  context: BatchingContext,
  organization: Organization,
  before: Task | undefined,
  after: Task | undefined,
): Promise<void> {
  const [former, entry] = [before, after].map((task) => task && searchEntry(organization, task));
  const { id } = (after ?? before) as Task;
  if (!isDeepStrictEqual(former, entry)) await writeEntry(context, organization, id, entry);
}

/**
 * Writes the search entry of a task as the task is now. It reads the task again after the write: a change that was made
 * in between may have been followed before the write.
 */
export async function renewSearchEntry(
  context: BatchingContext,
  organization: Organization,
  id: string,
): Promise<void> {
  const readEntry = async () => {
    const task = await readTask(context, organization, id);
    return task && searchEntry(organization, task);
  };
  let entry = await readEntry();
  for (;;) {
    await writeEntry(context, organization, id, entry);
    const now = await readEntry();
    if (isDeepStrictEqual(now, entry)) return;
    entry = now;
  }
}

function writeEntry(
  context: BatchingContext,
  organization: Organization,
  id: string,
  entry: Item | undefined,
): Promise<void> {
  return entry ? putInBatch(context, entry) : deleteInBatch(context, keys.searchEntry(organization, ulidOf(id)));
}

/**
 * Returns the ids of the newest tasks whose entries match, newest first, eventually consistent: entries are late anyway.
 *
 * @param search.before the id of the task after the page
 * @param search.isFound whether a title matches
 */
export function readFoundTasks(
  { table }: TableContext,
  organization: Organization,
  search: {
    filter: TaskFilter;
    isFound: (title: string) => boolean;
    before?: string | undefined;
    limit: number;
  },
): Promise<CursorPage<string>> {
  return pageFromParts(foundParts(table, organization, search), search.limit, (id) => id);
}

async function* foundParts(
  table: TableContext['table'],
  organization: Organization,
  { filter, isFound, before }: Omit<Parameters<typeof readFoundTasks>[2], 'limit'>,
): AsyncGenerator<CursorPage<string>> {
  const { agent, project } = filter;
  const { facets } = facetsOf(filter);
  const isMatch = (entry: Item) =>
    facets.includes(entry.facet as string) &&
    (!agent || entry.agent === agent) &&
    (!project || entry.project === project) &&
    isFound(entry.title as string);
  const to = before ? justBefore(ulidOf(before)) : '~';
  const range = { pk: keys.searchEntries(organization), from: ' ', to, limit: maxTasksSearched, eventual: true };
  for await (const { items, lastRead } of queryPages(table, range))
    yield {
      items: items.filter(isMatch).map(({ sk }) => `tk_${sk}`),
      next: lastRead === undefined ? null : `tk_${lastRead}`,
    };
}
