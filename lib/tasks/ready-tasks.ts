import { inGroups } from '../aws/in-groups.ts';
import type { Context } from '../context/context.ts';
import { ApiError, type ErrorCode } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import type { Task } from '../contract/tasks/tasks.ts';
import { Conflict, retryOnConflict, transact } from '../table/access/transact.ts';
import { startsItself } from '../table/agents/agent-items.ts';
import { readExecutionHead } from '../table/executions/executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { type OpenRow, readOpenRows } from '../table/tasks/ready-rows.ts';
import type { StoredTask, TaskFilter } from '../table/tasks/task-items.ts';
import { type Assignee, readAssignee, readTasks } from '../table/tasks/tasks.ts';
import { isOffered, liveClaim } from './claim-decisions.ts';
import { claimOnce, type NewClaim } from './claims.ts';
import { isAssignedTo } from './decisions.ts';
import { settle } from './dependents.ts';

type ReadyFilter = Pick<TaskFilter, 'agent' | 'project'>;

/** Of how many tasks a worker takes one. */
const candidatesLimit = 20;

/** How many tasks a request for the next one tries at most: tasks of agents that start by themselves can be in front. */
const triedAtMost = 1_000;

/**
 * Returns tasks that a worker can take now, by priority and then by age. Rows lead to them; the tasks and their dependencies,
 * strongly consistent, decide.
 */
export async function listReadyTasks(
  context: Context,
  organization: Organization,
  filter: ReadyFilter,
  limit: number,
): Promise<StoredTask[]> {
  const found: StoredTask[] = [];
  for await (const tasks of readReadyTasks(context, organization, filter, limit)) {
    found.push(...tasks);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Yields the ready tasks by priority and then by age, the tasks of a page of rows together. */
export async function* readReadyTasks(
  context: Context,
  organization: Organization,
  filter: ReadyFilter,
  pageItems: number,
): AsyncGenerator<StoredTask[]> {
  for await (const rows of inGroups(readOpenRows(context, organization, filter, pageItems), pageItems))
    yield await readyAmong(
      context,
      organization,
      rows.map(({ id }) => id),
    );
}

/** Returns the ready ones of some tasks, in their order. */
async function readyAmong(context: Context, organization: Organization, ids: readonly string[]): Promise<StoredTask[]> {
  const now = context.clock();
  const open = (await readTasks(context, organization, ids)).filter((task) => isOffered(task) && !liveClaim(task, now));
  const dependencyIds = new Set(open.flatMap(({ dependsOn }) => dependsOn));
  const owners = open.flatMap(({ owner }) => owner ?? []);
  const [dependencies, heads] = await Promise.all([
    readTasks(context, organization, [...dependencyIds]),
    Promise.all(owners.map((id) => readExecutionHead(context, { organization, id }))),
  ]);
  const unfinished = new Set(dependencies.filter(({ status }) => status !== 'done').map(({ id }) => id));
  const running = new Set(heads.filter((head) => head?.status === 'running').map((head) => head?.id));
  const isBlocked = ({ dependsOn }: StoredTask) => dependsOn.some((id) => unfinished.has(id));
  // Tasks of versions up to 0.2.0, and tasks with a dependency that was just reopened.
  const left = open.filter((task) => isBlocked(task) && !task.held);
  await Promise.all(left.map(({ id }) => settle(context, organization, id)));
  return open.filter((task) => !isBlocked(task) && !running.has(task.owner ?? ''));
}

/** Errors that say that another worker was first, or that a task is not ready any more. */
const otherWasFirst: readonly ErrorCode[] = [
  'not_found',
  'task_claimed',
  'task_blocked',
  'task_not_open',
  'execution_running',
];

/**
 * Gives one of the ready tasks of the highest priority to a worker: a random one of the first, so that workers who ask at the same
 * time want different ones. Tasks of agents that start by themselves are left out, unless the request names the agent.
 *
 * @returns `null` if no task is ready
 */
export function claimNextTask(
  context: Context,
  organization: Organization,
  { assignedAgent: agent, projectId: project, ...claim }: NewClaim & { assignedAgent?: string; projectId?: string },
  recordResponse: RecordResponse,
): Promise<Task | null> {
  return retryOnConflict(context.table, async () => {
    let conflict: Conflict | undefined;
    let tried = 0;
    const leavesOut = agent === undefined ? startingByThemselves(context, organization) : undefined;
    const rows = readOpenRows(context, organization, { agent, project }, candidatesLimit);
    for await (const candidates of ofOnePriority(rows)) {
      tried += candidates.length;
      if (tried > triedAtMost) break;
      for (const { id } of shuffled(candidates)) {
        const taken = await claimOnce(context, organization, id, claim, recordResponse, leavesOut).catch(otherwise);
        if (taken instanceof Conflict) conflict = taken;
        else if (taken === 'task_blocked') await settle(context, organization, id);
        else if (typeof taken === 'object') return taken;
      }
    }
    // Some task has changed meanwhile, and may be ready as before.
    if (conflict) throw conflict;
    const records = recordResponse?.(null) ?? [];
    if (records.length > 0) await transact(context.table, records);
    return null;
  });
}

/** Returns a function that says whether a task is one of an agent that starts by itself. It reads each agent once. */
function startingByThemselves({ table }: Context, organization: Organization) {
  const read = new Map<string, Promise<Assignee | undefined>>();
  return async (task: StoredTask): Promise<boolean> => {
    const { assignedAgent: name } = task;
    if (name === undefined) return false;
    const known = read.get(name) ?? readAssignee({ table }, organization, name);
    read.set(name, known);
    const agent = await known;
    return agent !== undefined && startsItself(agent) && isAssignedTo(task, agent);
  };
}

/** Returns why a task could not be taken, if another one may be. */
function otherwise(error: unknown): Conflict | ErrorCode {
  if (error instanceof ApiError && otherWasFirst.includes(error.code)) return error.code;
  if (error instanceof Conflict && !error.responseLost) return error;
  throw error;
}

/** Yields groups of rows with the same priority. */
async function* ofOnePriority(rows: AsyncIterable<OpenRow>): AsyncGenerator<OpenRow[]> {
  let group: OpenRow[] = [];
  for await (const row of rows) {
    if (group[0] && group[0].priority !== row.priority) {
      yield group;
      group = [];
    }
    if (group.push(row) < candidatesLimit) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function shuffled<Entry>(entries: readonly Entry[]): Entry[] {
  return entries
    .map((entry) => ({ entry, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ entry }) => entry);
}
