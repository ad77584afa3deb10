import type { Page } from '../contract/endpoint.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Task } from '../contract/tasks.ts';
import { requestFields } from '../request-context.ts';
import { unknownAgent } from './agents.ts';
import type { TableContext } from './client.ts';
import type { RecordResponse } from './idempotency.ts';
import { keys } from './keys.ts';
import { listingWrites, readItemPage, readPage } from './listing.ts';
import { type TaskPurge, taskPurgeWrite } from './purge-items.ts';
import { getItem, getItems } from './reads.ts';
import {
  addEdge,
  asRead,
  detach,
  detachLimit,
  type GraphLock,
  removeEdge,
  stale,
  takeLock,
  unknownTask,
} from './task-edges.ts';
import {
  allFacets,
  facetsOf,
  matches,
  type StoredTask,
  type TaskFilter,
  taskFrom,
  taskItem,
  taskMembership,
} from './task-items.ts';
import { Conflict, merged, transact } from './transact.ts';
import type { Write } from './write.ts';

/**
 * So many tasks at the start of the board are read to show a page of them. A task of 1 KB weighs as much as ten rows, and
 * rows of all facets take 25 requests more.
 */
const mostTasksRead = 200;

/** Returns the task as it is now. */
export async function readTask(
  { table }: TableContext,
  organization: Organization,
  id: string,
): Promise<StoredTask | undefined> {
  const item = await getItem(table, keys.task(organization, ulidOf(id)));
  return item && taskFrom(item);
}

/** Returns the tasks that exist, in the order of the ids. */
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
 * Returns a page of the board, newest first, and the exact number of all tasks that match the filter. The first pages of the
 * whole board are the tasks themselves; any other page is found by its rows.
 */
export async function readTaskPage(
  context: TableContext,
  organization: Organization,
  filter: TaskFilter,
  page: { limit: number; offset: number },
): Promise<Page<Task>> {
  const { table } = context;
  const { agent, project } = filter;
  const { items, ...list } = keys.taskScope(organization, { ...(agent && { agent }), ...(project && { project }) });
  const facets = facetsOf(filter);
  if (items && !facets && page.offset + page.limit <= mostTasksRead) {
    const found = await readItemPage(table, { ...list, items }, page);
    return { items: found.items.map(taskFrom), total: found.total };
  }
  const { rows, total } = await readPage(table, { list, facets: facets ?? (items ? allFacets : undefined), ...page });
  const tasks = await readTasks(
    context,
    organization,
    rows.map((row) => row.ulid),
  );
  return { items: tasks.filter((task) => matches(task, filter)), total };
}

/** Puts a new task on the board: the item, its rows and counters, its edges and the idempotency record, or nothing. */
export async function insertTask(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  recordResponse: RecordResponse,
): Promise<void> {
  await transact(table, [
    { Put: { Item: taskItem(organization, task), ConditionExpression: 'attribute_not_exists(pk)' } },
    ...listingWrites(undefined, taskMembership(organization, task)),
    ...task.dependsOn.map((id, at) => addEdge(organization, id, task.id, at)),
    ...(recordResponse ? [recordResponse(task)] : []),
  ]);
}

/**
 * Changes a task from what was read to what was decided, and moves its rows, counters and edges along. A change
 * that adds an edge passes the graph lock that it read before it looked for cycles.
 *
 * @throws `Conflict` when the task or the lock is no longer what was read
 */
export async function changeTask(
  context: TableContext,
  organization: Organization,
  before: StoredTask,
  after: StoredTask,
  lock?: { read: GraphLock },
): Promise<void> {
  const added = after.dependsOn.filter((id) => !before.dependsOn.includes(id));
  const removed = before.dependsOn.filter((id) => !after.dependsOn.includes(id));
  await transactEndingEdges(context, organization, before, removed, [
    ...changeWrites(organization, before, after),
    ...added.map((id) => addEdge(organization, id, after.id, after.dependsOn.indexOf(id))),
    ...(lock ? [takeLock(organization, lock.read)] : []),
  ]);
}

/**
 * Deletes a task, its rows and its edges in one transaction, or nothing. Up to `detachLimit` dependents lose the task
 * from their `dependsOn` in it. More are left to a purge, which the transaction puts: from then on nothing can reach
 * the task or depend on it, and reads of dependents leave out what does not exist. No transaction has room for a
 * condition on each of 500 dependents, so one that is taken up again between its read and the transaction loses the
 * task as one does that is taken up again just after it.
 *
 * @param dependents as they were read with the task; all done
 * @param times of the change to the dependents, and from when on the sweeper does the purge; ISO 8601
 * @returns the purge, for `purgeTask`
 * @throws `Conflict` when the task or its set of dependents, or in that transaction a dependent, is not what was read
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
    deleteAsRead(organization, task),
    ...listingWrites(taskMembership(organization, task), undefined),
    ...(purge
      ? [taskPurgeWrite(purge, task.dependents, times.purgeDueAt)]
      : dependents.map((dependent) => detach(organization, dependent, task.id, times.updatedAt))),
  ]);
  return purge;
}

/**
 * Carries out writes together with those that end a task's edges. A dependency that was deleted has no edge any more:
 * the task names it only until its purge is done.
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
    if (!(error instanceof Conflict) || error.answerLost) throw error;
    const left = (await readTasks(context, organization, dependencies)).map((dependency) => dependency.id);
    if (left.length === dependencies.length) throw error;
    await transact(table, all(left));
  }
}

/** Returns whether an agent of this name exists now. */
export async function agentExists({ table }: TableContext, organization: Organization, name: string): Promise<boolean> {
  return (await getItem(table, keys.agent(organization, name))) !== undefined;
}

/**
 * Checks that the agent and the tasks that a task names exist.
 *
 * @throws `ApiError` `unknown_reference` with all that do not
 */
export async function checkReferences(
  context: TableContext,
  organization: Organization,
  agent: string | undefined,
  dependsOn: readonly string[],
): Promise<void> {
  const known = await readTasks(context, organization, dependsOn);
  const unknown = dependsOn.flatMap((id, at) =>
    known.some((task) => task.id === id) ? [] : unknownTask(id, `dependsOn.${at}`),
  );
  if (agent && !(await agentExists(context, organization, agent))) unknown.push(unknownAgent(agent, 'assignedAgent'));
  if (unknown.length > 0) throw merged(unknown);
}

/** Returns the graph lock as it is now, for a change that adds an edge. */
export async function readGraphLock({ table }: TableContext, organization: Organization): Promise<GraphLock> {
  return (await getItem(table, keys.graphLock(organization)))?.v as GraphLock;
}

/**
 * The writes that change a task's fields, and move its rows and counters along; all but its edges. For stores that
 * change a task along with something else.
 */
export function changeWrites(organization: Organization, before: StoredTask, after: StoredTask): Write[] {
  return [
    changeFields(organization, before, after),
    ...listingWrites(taskMembership(organization, before), taskMembership(organization, after)),
  ];
}

/** The update of the fields that differ. An update, never a put: edges are added to the item meanwhile. */
function changeFields(organization: Organization, before: StoredTask, decided: StoredTask): Write {
  const after = { ...decided, ...requestFields() };
  const { names, values } = asRead(before);
  const fields = [
    'title',
    'description',
    'status',
    'priority',
    'assignedAgent',
    'projectId',
    'dependsOn',
    'owner',
    'requestId',
    'updatedAt',
    'version',
  ] as const;
  const changed = fields.filter((field) => before[field] !== after[field]);
  const set = changed.filter((field) => after[field] !== undefined);
  const removed = changed.filter((field) => after[field] === undefined);
  return {
    Update: {
      Key: keys.task(organization, ulidOf(before.id)),
      UpdateExpression: [
        `SET ${set.map((field) => `#${field} = :new_${field}`).join(', ')}`,
        ...(removed.length > 0 ? [`REMOVE ${removed.map((field) => `#${field}`).join(', ')}`] : []),
      ].join(' '),
      ConditionExpression: '#version = :version',
      ExpressionAttributeNames: { ...names, ...Object.fromEntries(changed.map((field) => [`#${field}`, field])) },
      ExpressionAttributeValues: {
        ...values,
        ...Object.fromEntries(set.map((field) => [`:new_${field}`, after[field]])),
      },
    },
    onConditionFailed: stale,
  };
}

function deleteAsRead(organization: Organization, task: StoredTask): Write {
  const { dependents } = task;
  const { names, values } = asRead(task);
  const none = dependents.length === 0;
  return {
    Delete: {
      Key: keys.task(organization, ulidOf(task.id)),
      ConditionExpression: `#version = :version AND ${none ? 'attribute_not_exists(dependents)' : 'dependents = :dependents'}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ...values, ...(none ? {} : { ':dependents': new Set(dependents) }) },
    },
    onConditionFailed: stale,
  };
}
