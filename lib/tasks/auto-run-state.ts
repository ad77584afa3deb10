import type { Context } from '../context/context.ts';
import type { Organization } from '../contract/organization.ts';
import type { TaskDetail } from '../contract/tasks/tasks.ts';
import { startsItself } from '../table/agents/agent-items.ts';
import { readWakeUp } from '../table/agents/wake-ups.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readAssignee } from '../table/tasks/tasks.ts';
import { isOffered, liveClaim } from './claim-decisions.ts';
import { isAssignedTo } from './decisions.ts';
import { hindranceOf } from './rounds.ts';

/**
 * Returns whether the service starts the agent of a task by itself, and why not, apart from the dependencies of the task;
 * `undefined` if the agent does not start by itself, or the task does not wait for it.
 */
export async function readAutoRunState(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  task: StoredTask,
): Promise<TaskDetail['autoRun']> {
  if (task.assignedAgent === undefined || !isOffered(task) || liveClaim(task, context.clock())) return undefined;
  const agent = await readAssignee(context, organization, task.assignedAgent);
  if (!agent || !startsItself(agent) || !isAssignedTo(task, agent)) return undefined;
  const hindrance = hindranceOf(task, { id: agent.id, autoRetry: agent.autoRetry ?? 0 });
  if (hindrance) return hindrance;
  const { limitedUntil } = await readWakeUp(context, organization, agent);
  const isLimited = limitedUntil !== undefined && Date.parse(limitedUntil) > context.clock();
  return { state: 'waiting', reason: isLimited ? 'limit' : 'running' };
}
