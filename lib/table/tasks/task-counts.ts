import type { Organization } from '../../contract/organization.ts';
import { type TaskPriority, type TaskStatus, taskPriorities, taskStatuses } from '../../contract/tasks/tasks.ts';
import type { TableContext } from '../access/client.ts';
import { countFacets } from '../lists/listing.ts';
import { bothFacetsOf, facetsOf, type TaskFilter, taskListOf } from './task-items.ts';

/** The number of tasks with a status and a priority. */
export type FacetCount = { status: TaskStatus; priority: TaskPriority; count: number };

/**
 * Returns the number of tasks that match a filter for each status and priority, from the counters of lists. It takes one
 * query, which also the total of the list takes.
 */
export async function readTaskCounts(
  { table }: TableContext,
  organization: Organization,
  filter: TaskFilter,
): Promise<FacetCount[]> {
  const { facets, rareFacets } = facetsOf(filter);
  const counts = await countFacets(table, taskListOf(organization, filter), [...facets, ...rareFacets]);
  const countOf = (facet: string) => counts.get(facet) ?? 0;
  return taskStatuses.flatMap((status) =>
    taskPriorities.map((priority) => ({
      status,
      priority,
      count: bothFacetsOf(status, priority).reduce((sum, facet) => sum + countOf(facet), 0),
    })),
  );
}
