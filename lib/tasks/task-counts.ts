import { ApiError } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import {
  type TaskCounts,
  type TaskGroup,
  type TaskGrouping,
  taskPriorities,
  taskStatuses,
} from '../contract/tasks/tasks.ts';
import type { TableContext } from '../table/access/client.ts';
import { readAgentNames } from '../table/agents/agents.ts';
import { type FacetCount, readTaskCounts } from '../table/tasks/task-counts.ts';
import type { TaskFilter } from '../table/tasks/task-items.ts';

/** The maximum number of agents of an organization whose tasks are counted by agent: each takes a query. */
export const countedAgentsLimit = 200;

/**
 * Returns the exact number of tasks that match a filter, and of those in each group. No task is read, only counters of
 * lists.
 *
 * @throws `ApiError` `limit_reached` for groups of agents if the organization has too many agents
 */
export async function countTasks(
  context: TableContext,
  organization: Organization,
  filter: TaskFilter,
  groupBy: TaskGrouping,
): Promise<TaskCounts> {
  const groups =
    groupBy === 'assigned_agent'
      ? await countByAgent(context, organization, filter)
      : groupsOf(await readTaskCounts(context, organization, filter), groupBy);
  return { groupBy, total: sumOf(groups), groups };
}

/** Returns a group for each status or priority, also without tasks. */
function groupsOf(counts: readonly FacetCount[], field: 'status' | 'priority'): TaskGroup[] {
  const values = field === 'status' ? taskStatuses : taskPriorities;
  return values.map((value) => ({ value, count: sumOf(counts.filter((one) => one[field] === value)) }));
}

/** Returns a group for each agent that has tasks, and one for all other tasks. */
async function countByAgent(
  context: TableContext,
  organization: Organization,
  filter: TaskFilter,
): Promise<TaskGroup[]> {
  const groupOf = async (agent: string): Promise<TaskGroup> => ({
    value: agent,
    count: sumOf(await readTaskCounts(context, organization, { ...filter, agent })),
  });
  if (filter.agent) return withTasks([await groupOf(filter.agent)]);
  const names = await readAgentNames(context, organization, countedAgentsLimit + 1);
  if (names.length > countedAgentsLimit) throw tooManyAgents();
  const [all, ...ofAgents] = await Promise.all([readTaskCounts(context, organization, filter), ...names.map(groupOf)]);
  return withTasks([...ofAgents, { value: null, count: sumOf(all) - sumOf(ofAgents) }]);
}

const sumOf = (counts: readonly { count: number }[]) => counts.reduce((sum, { count }) => sum + count, 0);

/** Counters are not read at the same moment, so the tasks without an agent can be fewer than 0 during other changes. */
const withTasks = (groups: readonly TaskGroup[]) => groups.filter(({ count }) => count > 0);

function tooManyAgents(): ApiError {
  return new ApiError(
    'limit_reached',
    `Tasks are counted by agent for at most ${countedAgentsLimit} agents, and there are more; name one with assigned_agent.`,
  );
}
