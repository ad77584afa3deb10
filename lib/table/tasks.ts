import type { Page } from '../contract/endpoint.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Task } from '../contract/tasks.ts';
import { requestFields } from '../request-context.ts';
import { unknownAgent } from './agents.ts';
import type { Table } from './client.ts';
import type { Once } from './idempotency.ts';
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
  allCells,
  cellsOf,
  matches,
  type StoredTask,
  type TaskFilter,
  taskFrom,
  taskItem,
  taskStanding,
} from './task-items.ts';
import { purgeTask } from './task-removal.ts';
import { merged, Stale, transact } from './transact.ts';
import type { Write } from './write.ts';

/**
 * So many tasks at the start of the board are read to show a page of them. A task of 1 KB weighs as much as ten rows, and
 * rows of all cells take 25 requests more.
 */
const mostTasksRead = 200;

/** The tasks of organizations. Each method is one step; `lib/tasks` decides what to do with what it reads. */
export function openTaskStore(table: Table) {
  const read = async (organization: Organization, ids: readonly string[]) => {
    const items = await getItems(
      table,
      ids.map((id) => keys.task(organization, ulidOf(id))),
    );
    return items.map(taskFrom);
  };

  /**
   * Carries out writes together with those that end a task's edges. A dependency that was deleted has no edge any more:
   * the task names it only until its purge is done.
   */
  const transactEndingEdges = async (
    organization: Organization,
    { id }: StoredTask,
    dependencies: readonly string[],
    writes: readonly Write[],
  ): Promise<void> => {
    const all = (ended: readonly string[]) => [...writes, ...ended.map((other) => removeEdge(organization, other, id))];
    try {
      await transact(table, all(dependencies));
    } catch (error) {
      if (!(error instanceof Stale) || error.answerLost) throw error;
      const left = (await read(organization, dependencies)).map((dependency) => dependency.id);
      if (left.length === dependencies.length) throw error;
      await transact(table, all(left));
    }
  };

  return {
    table,

    /** The task as it is now. */
    async get(organization: Organization, id: string): Promise<StoredTask | undefined> {
      const item = await getItem(table, keys.task(organization, ulidOf(id)));
      return item && taskFrom(item);
    },

    /** Those of the tasks that exist, in the order of the ids. */
    getAll: read,

    /**
     * A page of the board, newest first, and the exact number of all that the filter matches. The first pages of the
     * whole board are the tasks themselves; any other page is found by its rows.
     */
    async list(
      organization: Organization,
      filter: TaskFilter,
      page: { limit: number; offset: number },
    ): Promise<Page<Task>> {
      const { agent, project } = filter;
      const { items, ...list } = keys.taskScope(organization, { ...(agent && { agent }), ...(project && { project }) });
      const cells = cellsOf(filter);
      if (items && !cells && page.offset + page.limit <= mostTasksRead) {
        const found = await readItemPage(table, { ...list, items }, page);
        return { items: found.items.map(taskFrom), total: found.total };
      }
      const { rows, total } = await readPage(table, { list, cells: cells ?? (items ? allCells : undefined), ...page });
      const tasks = await read(
        organization,
        rows.map((row) => row.ulid),
      );
      return { items: tasks.filter((task) => matches(task, filter)), total };
    },

    /** Puts a new task on the board: the item, its rows and counters, its edges and the answer, or nothing. */
    async insert(organization: Organization, task: StoredTask, once: Once): Promise<void> {
      await transact(table, [
        { Put: { Item: taskItem(organization, task), ConditionExpression: 'attribute_not_exists(pk)' } },
        ...listingWrites(undefined, taskStanding(organization, task)),
        ...task.dependsOn.map((id, at) => addEdge(organization, id, task.id, at)),
        ...(once ? [once(task)] : []),
      ]);
    },

    /**
     * Changes a task from what was read to what was decided, and moves its rows, counters and edges along. A change
     * that adds an edge passes the graph lock that it read before it looked for cycles.
     *
     * @throws `Stale` when the task or the lock is no longer what was read
     */
    async change(
      organization: Organization,
      before: StoredTask,
      after: StoredTask,
      lock?: { read: GraphLock },
    ): Promise<void> {
      const added = after.dependsOn.filter((id) => !before.dependsOn.includes(id));
      const removed = before.dependsOn.filter((id) => !after.dependsOn.includes(id));
      await transactEndingEdges(organization, before, removed, [
        ...changeWrites(organization, before, after),
        ...added.map((id) => addEdge(organization, id, after.id, after.dependsOn.indexOf(id))),
        ...(lock ? [takeLock(organization, lock.read)] : []),
      ]);
    },

    /**
     * Deletes a task, its rows and its edges in one transaction, or nothing. Up to `detachLimit` dependents lose the task
     * from their `dependsOn` in it. More are left to a purge, which the transaction puts: from then on nothing can reach
     * the task or depend on it, and reads of dependents leave out what does not exist. No transaction has room for a
     * condition on each of 500 dependents, so one that is taken up again between its read and the transaction loses the
     * task as one does that is taken up again just after it.
     *
     * @param dependents as they were read with the task; all done
     * @param times of the change to the dependents, and from when on the sweeper does the purge; ISO 8601
     * @returns the purge, for `detachDependents`
     * @throws `Stale` when the task or its set of dependents, or in that transaction a dependent, is not what was read
     */
    async remove(
      organization: Organization,
      task: StoredTask,
      dependents: readonly StoredTask[],
      times: { updatedAt: string; purgeDueAt: string },
    ): Promise<TaskPurge | undefined> {
      const purge = dependents.length > detachLimit ? { organization, taskId: task.id } : undefined;
      await transactEndingEdges(organization, task, task.dependsOn, [
        deleteAsRead(organization, task),
        ...listingWrites(taskStanding(organization, task), undefined),
        ...(purge
          ? [taskPurgeWrite(purge, task.dependents, times.purgeDueAt)]
          : dependents.map((dependent) => detach(organization, dependent, task.id, times.updatedAt))),
      ]);
      return purge;
    },

    /** Takes a deleted task out of the `dependsOn` of its dependents; see `task-removal.ts`. */
    detachDependents: (purge: TaskPurge, updatedAt: string): Promise<void> => purgeTask(table, purge, updatedAt),

    /** Whether an agent of this name exists now. */
    async hasAgent(organization: Organization, name: string): Promise<boolean> {
      return (await getItem(table, keys.agent(organization, name))) !== undefined;
    },

    /**
     * Refuses a task that names an agent or tasks that do not exist, all of them at once.
     *
     * @throws `Refusal` `unknown_reference`
     */
    async refuseUnknown(organization: Organization, agent: string | undefined, dependsOn: readonly string[]) {
      const known = await read(organization, dependsOn);
      const unknown = dependsOn.flatMap((id, at) =>
        known.some((task) => task.id === id) ? [] : unknownTask(id, `dependsOn.${at}`),
      );
      if (agent && !(await this.hasAgent(organization, agent))) unknown.push(unknownAgent(agent, 'assignedAgent'));
      if (unknown.length > 0) throw merged(unknown);
    },

    /** The graph lock as it is now, for a change that adds an edge. */
    async graphLock(organization: Organization): Promise<GraphLock> {
      return (await getItem(table, keys.graphLock(organization)))?.v as GraphLock;
    },
  };
}

export type TaskStore = ReturnType<typeof openTaskStore>;

/**
 * The writes that change a task's fields, and move its rows and counters along; all but its edges. For stores that
 * change a task along with something else.
 */
export function changeWrites(organization: Organization, before: StoredTask, after: StoredTask): Write[] {
  return [
    changeFields(organization, before, after),
    ...listingWrites(taskStanding(organization, before), taskStanding(organization, after)),
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
    otherwise: stale,
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
    otherwise: stale,
  };
}
