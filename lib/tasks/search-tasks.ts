import type { Context } from '../context/context.ts';
import type { CursorPage } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import type { Task } from '../contract/tasks/tasks.ts';
import { searching } from '../contract/texts/search-words.ts';
import { readFoundTasks } from '../table/tasks/search-entries.ts';
import { matches, type TaskFilter } from '../table/tasks/task-items.ts';
import { readTasks } from '../table/tasks/tasks.ts';
import { withoutDeadClaim } from './claim-decisions.ts';

/**
 * Returns the newest tasks that match a filter and whose titles have all words of a search, newest first. Search entries
 * lead to them; the tasks, strongly consistent, decide.
 *
 * @param page.before the id of the task after the page
 */
export async function searchTasks(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  search: string,
  { before, limit, ...filter }: TaskFilter & { before?: string | undefined; limit: number },
): Promise<CursorPage<Task>> {
  const isFound = searching(search);
  if (!isFound) return { items: [], next: null };
  const { items: ids, next } = await readFoundTasks(context, organization, { filter, isFound, before, limit });
  const tasks = await readTasks(context, organization, ids);
  const now = context.clock();
  const items = tasks.filter((task) => matches(task, filter) && isFound(task.title));
  return { items: items.map((task) => withoutDeadClaim(task, now)), next };
}
