import type { Page } from '../../contract/endpoint.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { authorship, noAuthorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { changedFields, updateOf } from '../access/patch.ts';
import { getItem, getItems } from '../access/reads.ts';
import { Conflict, merged, transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import type { AgentHead } from '../agents/agent-items.ts';
import { unknownAgent } from '../agents/agents.ts';
import type { RecordResponse } from '../idempotency.ts';
import { listingWrites, readItemPage, readPage } from '../lists/listing.ts';
import { type TaskPurge, taskPurgeWrite } from '../purges/purge-items.ts';
import { deletedTaskItem } from './deleted-tasks.ts';
import { withEntry } from './due-tasks.ts';
import {
  addEdge,
  checkDependencies,
  conflict,
  detach,
  detachLimit,
  type GraphLock,
  removeEdge,
  takeLock,
  unchangedTask,
  unknownTask,
} from './task-edges.ts';
import {
  facetsOf,
  matches,
  type StoredTask,
  statusesOf,
  type TaskFilter,
  taskFrom,
  taskItem,
  taskListOf,
  taskMembership,
} from './task-items.ts';

/**
 * Pages among this many newest tasks are read from the tasks, later pages from rows. A task of 1 KB takes as many read
 * units as ten rows, but the rows of all facets take 25 more requests.
 */
const maxTasksRead = 200;

/** Returns a task, strongly consistent; `undefined` if it does not exist. */
export async function readTask(
  { table }: TableContext,
  organization: Organization,
  id: string,
): Promise<StoredTask | undefined> {
  const item = await getItem(table, keys.task(organization, ulidOf(id)));
  return item && taskFrom(item);
}

/** Returns the tasks that exist, in the order of the ids, strongly consistent. */
export async function readTasks(
  { table }: TableContext,
  organization: Organization,
  ids: readonly string[],
): Promise<StoredTask[]> {
  const items = await getItems(
    table,
    ids.map((id) => keys.task(organization, ulidOf(id))),
  );
  return items.map(taskFrom);
}

/**
 * Returns a page of the tasks that match a filter, newest first, and their exact number. Without a filter the first
 * pages are read from the tasks themselves. All other pages are found by rows.
 */
export async function readTaskPage(
  context: TableContext,
  organization: Organization,
  filter: TaskFilter,
  page: { limit: number; offset: number },
): Promise<Page<StoredTask>> {
  const { table } = context;
  const { items, ...list } = taskListOf(organization, filter);
  const isByFacet = statusesOf(filter) !== undefined || filter.priority !== undefined;
  if (items && !isByFacet && page.offset + page.limit <= maxTasksRead) {
    const found = await readItemPage(table, { ...list, items }, page);
    return { items: found.items.map(taskFrom), total: found.total };
  }
  // A list whose items are a partition of their own has no rows of all of them.
  const { rows, total } = await readPage(table, { list, ...((isByFacet || items) && facetsOf(filter)), ...page });
  const tasks = await readTasks(
    context,
    organization,
    rows.map((row) => row.ulid),
  );
  return { items: tasks.filter((task) => matches(task, filter)), total };
}

/**
 * Inserts a task with its rows, counters, edges and idempotency record in one transaction.
 *
 * @param dependencies its dependencies as they were read
 * @throws `Conflict` if one of them has been finished or reopened since
 */
export async function insertTask(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  dependencies: readonly StoredTask[],
  recordResponse: RecordResponse,
): Promise<void> {
  const read = new Map(dependencies.map((one) => [one.id, one]));
  await transact(table, [
    { Put: { Item: taskItem(organization, task), ConditionExpression: 'attribute_not_exists(pk)' } },
    ...listingWrites(undefined, taskMembership(organization, task)),
    ...task.dependsOn.map((id, at) => addEdge(organization, id, task.id, at, read.get(id))),
    ...(recordResponse?.(task) ?? []),
  ]);
}

/**
 * Changes a task with its rows, counters and edges in one transaction.
 *
 * @param before the task as it was read
 * @param options.lock for a change that adds an edge: the graph lock as it was read before the search for cycles
 * @param options.dependencies for a change that decides whether the task is held: its dependencies as they were read
 * @param options.also further writes of the same transaction
 * @throws `Conflict` if the task, a dependency or the lock has changed since it was read
 */
export async function changeTask(
  context: TableContext,
  organization: Organization,
  before: StoredTask,
  after: StoredTask,
  {
    lock,
    dependencies = [],
    recordResponse,
    also = [],
  }: {
    lock?: { read: GraphLock } | undefined;
    dependencies?: readonly StoredTask[] | undefined;
    recordResponse?: RecordResponse;
    also?: readonly Write[];
  } = {},
): Promise<void> {
  const read = new Map(dependencies.map((one) => [one.id, one]));
  const added = after.dependsOn.filter((id) => !before.dependsOn.includes(id));
  const removed = before.dependsOn.filter((id) => !after.dependsOn.includes(id));
  await transactEndingEdges(context, organization, before, removed, [
    ...changeWrites(organization, before, after),
    ...added.map((id) => addEdge(organization, id, after.id, after.dependsOn.indexOf(id), read.get(id))),
    ...checkDependencies(
      organization,
      dependencies.filter(({ id }) => !added.includes(id)),
    ),
    ...(lock ? [takeLock(organization, lock.read)] : []),
    ...also,
    ...(recordResponse?.(after) ?? []),
  ]);
}

/**
 * Deletes a task with its rows and edges in one transaction. The transaction also removes the task from the `dependsOn`
 * of up to `detachLimit` dependents. If there are more dependents, it writes a purge instead, which does that later.
 * Until then reads of the dependents leave the deleted task out.
 *
 * A transaction has no room for a condition on each of 500 dependents. So with a purge a dependent that is reopened
 * during the deletion loses the dependency, like one that is reopened just after the deletion.
 *
 * @param dependents as they were read with the task; all of them are done
 * @param times `updatedAt` of the dependents, and `purgeDueAt` from which the purge is run; ISO 8601
 * @returns the purge, for `purgeTask`; `undefined` if none is needed
 * @throws `Conflict` if the task, its set of dependents or a dependent that the transaction changes was changed
 */
export async function removeTask(
  context: TableContext,
  organization: Organization,
  task: StoredTask,
  dependents: readonly StoredTask[],
  times: { updatedAt: string; purgeDueAt: string },
): Promise<TaskPurge | undefined> {
  const purge = dependents.length > detachLimit ? { organization, taskId: task.id } : undefined;
  await transactEndingEdges(context, organization, task, task.dependsOn, [
    deleteUnchanged(organization, task),
    { Put: { Item: deletedTaskItem(organization, task, times.updatedAt) } },
    ...listingWrites(taskMembership(organization, task), undefined),
    ...(purge
      ? [taskPurgeWrite(purge, task.dependents, times.purgeDueAt)]
      : dependents.map((dependent) => detach(organization, dependent, task.id, times.updatedAt))),
  ]);
  return purge;
}

/**
 * Applies writes together with the removal of a task's edges. A deleted dependency has no edge: the task has its id
 * only until the purge of the dependency is done.
 */
async function transactEndingEdges(
  context: TableContext,
  organization: Organization,
  { id }: StoredTask,
  dependencies: readonly string[],
  writes: readonly Write[],
): Promise<void> {
  const { table } = context;
  const all = (ended: readonly string[]) => [...writes, ...ended.map((other) => removeEdge(organization, other, id))];
  try {
    await transact(table, all(dependencies));
  } catch (error) {
    if (!(error instanceof Conflict) || error.responseLost) throw error;
    const existing = (await readTasks(context, organization, dependencies)).map((dependency) => dependency.id);
    if (existing.length === dependencies.length) throw error;
    await transact(table, all(existing));
  }
}

/** An agent to which tasks are assigned. */
export type Assignee = Pick<AgentHead, 'id' | 'name' | 'status'> & Partial<Pick<AgentHead, 'autoRun' | 'autoRetry'>>;

/** Returns the agent with a name, as far as the assignment of a task needs it; `undefined` if there is none. */
export async function readAssignee(
  { table }: TableContext,
  organization: Organization,
  name: string,
): Promise<Assignee | undefined> {
  return (await getItem(table, keys.agent(organization, name))) as Assignee | undefined;
}

/**
 * Checks that the agent and the dependencies of a task exist, and returns the dependencies.
 *
 * @throws `ApiError` `unknown_reference` with a detail for each one that does not exist
 */
export async function checkReferences(
  context: TableContext,
  organization: Organization,
  agent: string | undefined,
  dependsOn: readonly string[],
): Promise<StoredTask[]> {
  const known = await readTasks(context, organization, dependsOn);
  const unknown = dependsOn.flatMap((id, at) =>
    known.some((task) => task.id === id) ? [] : unknownTask(id, `dependsOn.${at}`),
  );
  if (agent && !(await readAssignee(context, organization, agent))) unknown.push(unknownAgent(agent, 'assignedAgent'));
  if (unknown.length > 0) throw merged(unknown);
  return known;
}

/** Returns the graph lock, strongly consistent, for a change that adds an edge. */
export async function readGraphLock({ table }: TableContext, organization: Organization): Promise<GraphLock> {
  return (await getItem(table, keys.graphLock(organization)))?.v as GraphLock;
}

/** Returns the writes that change a task with its rows and counters, but without its edges. */
export function changeWrites(organization: Organization, before: StoredTask, after: StoredTask): Write[] {
  return [
    changeFields(organization, before, withEntry(before, after)),
    ...listingWrites(taskMembership(organization, before), taskMembership(organization, after)),
  ];
}

/**
 * Returns the update of the changed fields. A put would lose dependents that other writers add at the same time. The id and
 * the time of creation are the key.
 */
function changeFields(organization: Organization, before: StoredTask, after: StoredTask): Write {
  const made = { ...after, ...noAuthorship, ...authorship() } as StoredTask;
  const changed = changedFields(before, made, ['id', 'createdAt', 'dependents']);
  const { condition, names, values } = unchangedTask(before);
  const update = updateOf(changed);
  return {
    Update: {
      Key: keys.task(organization, ulidOf(before.id)),
      ...update,
      ConditionExpression: condition,
      ExpressionAttributeNames: { ...names, ...update.ExpressionAttributeNames },
      ExpressionAttributeValues: { ...values, ...update.ExpressionAttributeValues },
    },
    onConditionFailed: conflict,
  };
}

function deleteUnchanged(organization: Organization, task: StoredTask): Write {
  const { dependents } = task;
  const { condition, names, values } = unchangedTask(task);
  const none = dependents.length === 0;
  return {
    Delete: {
      Key: keys.task(organization, ulidOf(task.id)),
      ConditionExpression: `${condition} AND ${none ? 'attribute_not_exists(dependents)' : 'dependents = :dependents'}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ...values, ...(none ? {} : { ':dependents': new Set(dependents) }) },
    },
    onConditionFailed: conflict,
  };
}
