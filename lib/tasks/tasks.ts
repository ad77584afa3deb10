import type { Context } from '../context.ts';
import type { Page, Precondition, Versioned } from '../contract/endpoint.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { NewTask, Task, TaskDetail, TaskPatch } from '../contract/tasks.ts';
import type { TableContext } from '../table/client.ts';
import { graceMs } from '../table/due.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import type { StoredTask, TaskFilter } from '../table/task-items.ts';
import { purgeTask } from '../table/task-removal.ts';
import {
  agentExists,
  changeTask,
  checkReferences,
  insertTask,
  readGraphLock,
  readTask,
  readTaskPage,
  readTasks,
  removeTask,
} from '../table/tasks.ts';
import { retryOnConflict } from '../table/transact.ts';
import { detailed, patched, rejectWhileAwaited } from './decisions.ts';
import { rejectCycle } from './graph.ts';

/** Returns a page of the board, newest first, with the exact total of the filter. */
export function listTasks(
  context: TableContext,
  organization: Organization,
  filter: TaskFilter,
  page: { limit: number; offset: number },
): Promise<Page<Task>> {
  return readTaskPage(context, organization, filter, page);
}

/**
 * Puts a task on the board.
 *
 * @throws `ApiError` `unknown_reference` for an agent or a dependency that does not exist, `limit_reached`
 */
export async function createTask(
  context: Pick<Context, 'table' | 'ulid'>,
  organization: Organization,
  { dependsOn, ...fields }: NewTask,
  recordResponse: RecordResponse,
): Promise<Task> {
  const id = context.ulid();
  const createdAt = timestamp(timeOf(id));
  const task = {
    ...fields,
    id: `tk_${id}`,
    dependsOn,
    dependents: [],
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
  await checkAssignedAgent(context, organization, undefined, task);
  await insertTask(context, organization, task, recordResponse);
  return task;
}

/**
 * Returns the task with its dependencies and what blocks it, as they are now.
 *
 * @throws `ApiError` `not_found`
 */
export async function getTask(
  context: TableContext,
  organization: Organization,
  id: string,
): Promise<Versioned<TaskDetail>> {
  const task = await requireTask(context, organization, id);
  const dependencies = await readTasks(context, organization, task.dependsOn);
  return { data: detailed(task, dependencies), version: task.version };
}

/**
 * Changes the fields of a task that a patch names; equal values write nothing.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`, `unknown_reference`, `dependency_cycle`, `limit_reached`
 */
export function updateTask(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  patch: TaskPatch,
  ifMatch: Precondition,
): Promise<Versioned<Task>> {
  return retryOnConflict(context.table, async () => {
    const before = await requireTask(context, organization, id);
    ifMatch(before.version);
    const after = patched(before, patch, timestamp(context.clock()));
    if (after !== before) await change(context, organization, before, after);
    return { data: after, version: after.version };
  });
}

/**
 * Deletes a task for good; its edges to dependents that are done go with it.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`, `has_dependents`
 */
export async function deleteTask(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  ifMatch: Precondition,
): Promise<void> {
  const now = context.clock();
  const updatedAt = timestamp(now);
  const purge = await retryOnConflict(context.table, async () => {
    const task = await requireTask(context, organization, id);
    ifMatch(task.version);
    const dependents = await readTasks(context, organization, task.dependents);
    rejectWhileAwaited(dependents);
    return removeTask(context, organization, task, dependents, { updatedAt, purgeDueAt: timestamp(now + graceMs) });
  });
  // The task is deleted by now. Where the table is too busy to detach its dependents, the purge does that.
  if (purge) await purgeTask(context.table, purge, updatedAt).catch(ignoreApiError);
}

async function requireTask(context: TableContext, organization: Organization, id: string): Promise<StoredTask> {
  const task = await readTask(context, organization, id);
  if (!task) throw notFound();
  return task;
}

/**
 * Changes a task. An added edge could close a ring, also together with another change that adds one at the same moment: the
 * graph lock is read before the walk and passed on with the change (docs/architecture.md#dependencies).
 */
async function change(
  context: TableContext,
  organization: Organization,
  before: StoredTask,
  after: StoredTask,
): Promise<void> {
  await checkAssignedAgent(context, organization, before, after);
  const added = after.dependsOn.filter((id) => !before.dependsOn.includes(id));
  if (added.length === 0) return changeTask(context, organization, before, after);
  const lock = await readGraphLock(context, organization);
  await checkReferences(context, organization, undefined, after.dependsOn);
  await rejectCycle(after.id, added, after.dependsOn, (ids) => readTasks(context, organization, ids));
  return changeTask(context, organization, before, after, { read: lock });
}

/**
 * Checks that the agent of a task exists, if it is a new one. The agent is read before the transaction and not checked in
 * it: all tasks of an agent would conflict over its item. A task keeps the name of an agent that is deleted in
 * between, as after any deletion.
 */
async function checkAssignedAgent(
  context: TableContext,
  organization: Organization,
  before: StoredTask | undefined,
  after: StoredTask,
): Promise<void> {
  const { assignedAgent } = after;
  if (!assignedAgent || assignedAgent === before?.assignedAgent) return;
  if (await agentExists(context, organization, assignedAgent)) return;
  await checkReferences(context, organization, assignedAgent, after.dependsOn);
}

function ignoreApiError(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}
