import type { Page, Precondition, Versioned } from '../contract/endpoint.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { notFound, Refusal } from '../contract/refusals.ts';
import type { NewTask, Task, TaskDetail, TaskPatch } from '../contract/tasks.ts';
import { graceMs } from '../table/due.ts';
import type { Once } from '../table/idempotency.ts';
import type { StoredTask, TaskFilter } from '../table/task-items.ts';
import type { TaskStore } from '../table/tasks.ts';
import { untilFresh } from '../table/transact.ts';
import { detailed, patched, refuseWhileAwaited } from './decisions.ts';
import { refuseCycle } from './graph.ts';

/** The board: what callers can do with tasks. */
export function openTasks(store: TaskStore, ulid: () => string, clock: () => number) {
  const found = async (organization: Organization, id: string): Promise<StoredTask> => {
    const task = await store.get(organization, id);
    if (!task) throw notFound();
    return task;
  };

  return {
    /** A page of the board, newest first, with the exact total of the filter. */
    list: (
      organization: Organization,
      filter: TaskFilter,
      page: { limit: number; offset: number },
    ): Promise<Page<Task>> => store.list(organization, filter, page),

    /**
     * Puts a task on the board.
     *
     * @throws `Refusal` `unknown_reference` for an agent or a dependency that does not exist, `limit_reached`
     */
    async create(organization: Organization, { dependsOn, ...fields }: NewTask, once: Once): Promise<Task> {
      const id = ulid();
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
      await refuseUnknownAgent(organization, undefined, task);
      await store.insert(organization, task, once);
      return task;
    },

    /** The task with its dependencies and what blocks it, as they are now. */
    async get(organization: Organization, id: string): Promise<Versioned<TaskDetail>> {
      const task = await found(organization, id);
      const dependencies = await store.getAll(organization, task.dependsOn);
      return { data: detailed(task, dependencies), version: task.version };
    },

    /**
     * Changes what a patch names; equal values write nothing.
     *
     * @throws `Refusal` `not_found`, `precondition_failed`, `unknown_reference`, `dependency_cycle`, `limit_reached`
     */
    update(organization: Organization, id: string, patch: TaskPatch, ifMatch: Precondition): Promise<Versioned<Task>> {
      return untilFresh(store.table, async () => {
        const before = await found(organization, id);
        ifMatch(before.version);
        const after = patched(before, patch, timestamp(clock()));
        if (after !== before) await change(organization, before, after);
        return { data: after, version: after.version };
      });
    },

    /**
     * Deletes a task for good; its edges to dependents that are done go with it.
     *
     * @throws `Refusal` `not_found`, `precondition_failed`, `has_dependents`
     */
    async delete(organization: Organization, id: string, ifMatch: Precondition): Promise<void> {
      const now = clock();
      const updatedAt = timestamp(now);
      const purge = await untilFresh(store.table, async () => {
        const task = await found(organization, id);
        ifMatch(task.version);
        const dependents = await store.getAll(organization, task.dependents);
        refuseWhileAwaited(dependents);
        return store.remove(organization, task, dependents, { updatedAt, purgeDueAt: timestamp(now + graceMs) });
      });
      // The task is deleted by now. Where the table is too busy to detach its dependents, the purge does that.
      if (purge) await store.detachDependents(purge, updatedAt).catch(ignoreRefusal);
    },
  };

  /**
   * An added edge could close a ring, also together with another change that adds one at the same moment: the
   * graph lock is read before the walk and passed on with the change (docs/architecture.md#dependencies).
   */
  async function change(organization: Organization, before: StoredTask, after: StoredTask): Promise<void> {
    await refuseUnknownAgent(organization, before, after);
    const added = after.dependsOn.filter((id) => !before.dependsOn.includes(id));
    if (added.length === 0) return store.change(organization, before, after);
    const lock = await store.graphLock(organization);
    await store.refuseUnknown(organization, undefined, after.dependsOn);
    await refuseCycle(after.id, added, after.dependsOn, (ids) => store.getAll(organization, ids));
    return store.change(organization, before, after, { read: lock });
  }

  /**
   * An agent is looked up before the transaction and not checked in it: all tasks of an agent would conflict over its
   * item. A task keeps the name of an agent that is deleted in between, as after any deletion.
   */
  async function refuseUnknownAgent(organization: Organization, before: StoredTask | undefined, after: StoredTask) {
    const { assignedAgent } = after;
    if (!assignedAgent || assignedAgent === before?.assignedAgent) return;
    if (await store.hasAgent(organization, assignedAgent)) return;
    await store.refuseUnknown(organization, assignedAgent, after.dependsOn);
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

export type Tasks = ReturnType<typeof openTasks>;
