import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context/context.ts';
import type { Page, Precondition, Versioned } from '../contract/endpoint.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { NewTask, Task, TaskDetail, TaskListItem, TaskPatch } from '../contract/tasks/tasks.ts';
import type { TableContext } from '../table/access/client.ts';
import { retryOnConflict, transact } from '../table/access/transact.ts';
import type { Write } from '../table/access/write.ts';
import { type FormerListsContext, usesFormerLists } from '../table/executions/former-lists.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { graceMs } from '../table/lists/due.ts';
import { isHeld, withHeld } from '../table/tasks/held-tasks.ts';
import type { GraphLock } from '../table/tasks/task-edges.ts';
import type { StoredTask, TaskFilter } from '../table/tasks/task-items.ts';
import { purgeTask } from '../table/tasks/task-removal.ts';
import {
  type Assignee,
  changeTask,
  checkReferences,
  insertTask,
  readAssignee,
  readGraphLock,
  readTask,
  readTaskPage,
  readTasks,
  removeTask,
} from '../table/tasks/tasks.ts';
import { readAutoRunState } from './auto-run-state.ts';
import { asOf, claimLost, liveClaim, taskClaimed, withoutDeadClaim } from './claim-decisions.ts';
import { blockersIn, checkDependentsDone, detailed, isAssignedTo, patchedTask } from './decisions.ts';
import { checkNoCycle } from './graph.ts';
import { type Handover, handedOver, inRound } from './rounds.ts';
import { readTaskResult } from './task-result.ts';

/** What a change by an agent has in addition to a request. */
export type ChangeOptions = {
  /**
   * Checks whether the caller may make a change of the task; called again after a conflict. Without a change, `after` is
   * the same object as `before`.
   *
   * @throws `ApiError`
   */
  authorize?: (before: StoredTask, after: StoredTask) => Promise<void>;
  /** Of the execution that makes the change: the chain that tasks carry which it assigns. */
  handover?: Handover;
  /** Returns the writes that record the response, for the transaction of the change. */
  recordResponse?: RecordResponse;
};

/**
 * Returns a page of the tasks that match a filter, newest first, and their exact number.
 *
 * @param include `blockedBy` also reads the tasks that they depend on
 */
export async function listTasks(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  filter: TaskFilter,
  page: { limit: number; offset: number },
  include?: 'blockedBy',
): Promise<Page<TaskListItem>> {
  const { items: found, total } = await readTaskPage(context, organization, filter, page);
  const now = context.clock();
  const items = found.map((task) => withoutDeadClaim(task, now));
  if (include === undefined) return { items, total };
  const ids = new Set(items.flatMap(({ dependsOn }) => dependsOn));
  const dependencies = new Map((await readTasks(context, organization, [...ids])).map((task) => [task.id, task]));
  const dependenciesOf = ({ dependsOn }: Task) => dependsOn.flatMap((id) => dependencies.get(id) ?? []);
  return { items: items.map((task) => ({ ...task, blockedBy: blockersIn(dependenciesOf(task)) })), total };
}

/**
 * Creates a task.
 *
 * @param input the fields of the task, and the id of the agent that creates it, if an agent does
 * @param handover of the execution that creates it: the chain that the task carries
 * @throws `ApiError` `unknown_reference` for an agent or a dependency that does not exist, `limit_reached`
 */
export async function createTask(
  context: FormerListsContext & Pick<Context, 'ulid'>,
  organization: Organization,
  { dependsOn, ...fields }: NewTask & Pick<StoredTask, 'createdBy'>,
  recordResponse: RecordResponse,
  handover?: Handover,
): Promise<Task> {
  const id = context.ulid();
  const createdAt = timestamp(timeOf(id));
  const assignee = await readNewAssignee(context, organization, undefined, fields.assignedAgent);
  const fresh: StoredTask = {
    ...fields,
    ...(assignee && { assignedAgentId: assignee.id }),
    id: `tk_${id}`,
    dependsOn,
    dependents: [],
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
  const task = handover ? handedOver(fresh, handover) : fresh;
  await checkAssignedAgent(context, organization, undefined, task, assignee);
  if (dependsOn.length === 0) {
    await insertTask(context, organization, task, [], recordResponse);
    return task;
  }
  return retryOnConflict(context.table, async () => {
    const dependencies = await readTasks(context, organization, dependsOn);
    const created = await withHold(context, organization, task, dependencies);
    await insertTask(context, organization, created, dependencies, recordResponse);
    return created;
  });
}

/**
 * Returns a task with its dependencies, and its unfinished dependencies.
 *
 * @param include `result` also reads the newest ended execution on the task
 * @throws `ApiError` `not_found`
 */
export async function getTask(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  include?: 'result',
): Promise<Versioned<TaskDetail>> {
  const task = withoutDeadClaim(await requireTask(context, organization, id), context.clock());
  const [dependencies, autoRun, result] = await Promise.all([
    readTasks(context, organization, task.dependsOn),
    readAutoRunState(context, organization, task),
    include === undefined ? undefined : readTaskResult(context, organization, task),
  ]);
  const data = detailed(task, dependencies);
  const isWaiting = autoRun && autoRun.state === 'waiting' && data.blockedBy.length > 0;
  const state = isWaiting ? { ...autoRun, reason: 'dependencies' as const } : autoRun;
  return { data: { ...data, ...(state && { autoRun: state }), ...(result && { result }) }, version: task.version };
}

/**
 * Changes the fields of a task that a patch names. Equal values write nothing but the record of the response.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`, `unknown_reference`, `dependency_cycle`, `limit_reached`,
 *   `task_claimed`, `claim_lost`, and the errors of `authorize`
 */
export function updateTask(
  context: FormerListsContext & Pick<Context, 'clock'>,
  organization: Organization,
  id: string,
  { claimId, ...patch }: TaskPatch,
  ifMatch: Precondition,
  { authorize, handover, recordResponse }: ChangeOptions = {},
): Promise<Versioned<Task>> {
  return retryOnConflict(context.table, async () => {
    const now = context.clock();
    const before = await requireTask(context, organization, id);
    ifMatch(before);
    checkClaim(before, claimId, patch, now);
    const task = asOf(before, now);
    const assignee = await readNewAssignee(context, organization, before, patch.assignedAgent);
    const change = { ...patch, ...(assignee && { assignedAgentId: assignee.id }) };
    const after = patchedTask(task, change, timestamp(now));
    await authorize?.(task, after);
    if (after === task) {
      if (recordResponse) await transact(context.table, recordResponse(after));
      return { data: task, version: task.version };
    }
    const next = inRound(task, after, handover);
    const changed = await checkAndChange(context, organization, before, next, assignee, recordResponse);
    return { data: changed, version: changed.version };
  });
}

/**
 * Deletes a task, and removes it from the `dependsOn` of its dependents.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`, `task_claimed`, `has_dependents`
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
    ifMatch(task);
    const claim = liveClaim(task, now);
    if (claim) throw taskClaimed(claim);
    const dependents = await readTasks(context, organization, task.dependents);
    checkDependentsDone(dependents);
    return removeTask(context, organization, task, dependents, { updatedAt, purgeDueAt: timestamp(now + graceMs) });
  });
  // The task is deleted. If the table is too busy now, `purge-agent` runs the purge later.
  if (purge) await purgeTask(context, purge, updatedAt).catch(ignoreApiError);
}

/** Reads a task. Throws `ApiError` `not_found`. */
export async function requireTask(context: TableContext, organization: Organization, id: string): Promise<StoredTask> {
  const task = await readTask(context, organization, id);
  if (!task) throw notFound('task');
  return task;
}

/**
 * Checks the references of a change and makes the change. An added dependency could close a cycle, also together with a
 * concurrent change. So the graph lock is read before the search for cycles, and the change fails if the lock has
 * changed (docs/architecture.md#dependencies).
 */
async function checkAndChange(
  context: FormerListsContext & Pick<Context, 'clock'>,
  organization: Organization,
  before: StoredTask,
  after: StoredTask,
  assignee: Assignee | undefined,
  recordResponse: RecordResponse,
): Promise<StoredTask> {
  await checkAssignedAgent(context, organization, before, after, assignee);
  const added = after.dependsOn.filter((id) => !before.dependsOn.includes(id));
  if (added.length === 0) return changeWithHold(context, organization, before, after, { recordResponse });
  const lock = { read: await readGraphLock(context, organization) };
  const dependencies = await checkReferences(context, organization, undefined, after.dependsOn);
  await checkNoCycle(after.id, added, after.dependsOn, (ids) => readTasks(context, organization, ids));
  return changeWithHold(context, organization, before, after, { lock, dependencies, recordResponse });
}

/**
 * Changes a task, and decides anew whether it is held if the change can make a difference: other dependencies, no failures any
 * more, or another status of a task that is held. The last is not needed, but it corrects a task that was left behind.
 *
 * @param options.dependencies if they were read already
 * @param options.also further writes of the same transaction
 */
export async function changeWithHold(
  context: FormerListsContext,
  organization: Organization,
  before: StoredTask,
  after: StoredTask,
  options: {
    lock?: { read: GraphLock };
    dependencies?: readonly StoredTask[];
    recordResponse: RecordResponse;
    also?: readonly Write[];
  },
): Promise<StoredTask> {
  const isSame = isDeepStrictEqual(before.dependsOn, after.dependsOn) && before.stopped === after.stopped;
  if (isSame && (!before.held || before.status === after.status)) {
    await changeTask(context, organization, before, after, options);
    return after;
  }
  const dependencies = options.dependencies ?? (await readTasks(context, organization, after.dependsOn));
  const changed = await withHold(context, organization, after, dependencies);
  await changeTask(context, organization, before, changed, { ...options, dependencies });
  return changed;
}

/** Returns a task as it is held or not with its dependencies. While functions of 0.2.0 can run, none is: they would not find it. */
async function withHold(
  context: FormerListsContext,
  organization: Organization,
  task: StoredTask,
  dependencies: readonly StoredTask[],
): Promise<StoredTask> {
  const held = isHeld(task, dependencies);
  if (!held || task.held) return withHeld(task, held);
  return withHeld(task, !(await usesFormerLists(context, organization, Date.parse(task.updatedAt))));
}

/**
 * Checks that a patch respects the claim on a task.
 *
 * @throws `ApiError` `claim_lost` if it names another claim than the claim of the task, `task_claimed` if it names none
 */
function checkClaim(task: StoredTask, claimId: string | undefined, patch: TaskPatch, now: number): void {
  const claim = liveClaim(task, now);
  if (claimId !== undefined && claimId !== claim?.id) throw claimLost();
  if (claim && claimId === undefined && (patch.status !== undefined || patch.description !== undefined))
    throw taskClaimed(claim);
}

/**
 * Returns the agent that a request assigns to a task; `undefined` if it names none, if there is none with this name, or if
 * the task is assigned to it already. An equal name can be the name of another agent than before.
 */
async function readNewAssignee(
  context: TableContext,
  organization: Organization,
  before: StoredTask | undefined,
  name: string | null | undefined,
): Promise<Assignee | undefined> {
  const agent = name ? await readAssignee(context, organization, name) : undefined;
  return agent && before && isAssignedTo(before, agent) ? undefined : agent;
}

/**
 * Checks that the agent of a task exists, if it has changed. The transaction itself does not check the agent, because
 * all tasks of an agent would conflict over its item. If the agent is deleted before the transaction, the task keeps
 * its name, as after any deletion.
 *
 * @param assignee the agent, if there is one with its name
 */
async function checkAssignedAgent(
  context: TableContext,
  organization: Organization,
  before: StoredTask | undefined,
  after: StoredTask,
  assignee: Assignee | undefined,
): Promise<void> {
  const { assignedAgent } = after;
  if (assignee || !assignedAgent || assignedAgent === before?.assignedAgent) return;
  await checkReferences(context, organization, assignedAgent, after.dependsOn);
}

function ignoreApiError(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}
