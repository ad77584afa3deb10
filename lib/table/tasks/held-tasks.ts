import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { transactIfFirst } from '../access/transact.ts';
import { checkDependencies } from './task-edges.ts';
import type { StoredTask } from './task-items.ts';
import { changeWrites } from './tasks.ts';

/** Returns whether a task is held, as far as its item and its dependencies say. */
export function isHeld(
  task: Pick<StoredTask, 'stopped'>,
  dependencies: readonly Pick<StoredTask, 'status'>[],
): boolean {
  return task.stopped !== undefined || dependencies.some(({ status }) => status !== 'done');
}

/** Returns a task that is held, or is not. */
export function withHeld(task: StoredTask, held: boolean): StoredTask {
  if ((task.held === true) === held) return task;
  const { held: _, ...rest } = task;
  return held ? { ...rest, held } : rest;
}

/**
 * Stores whether a task is held. It changes the rows of the task, and neither its version nor any field that callers see.
 *
 * @param dependencies as they were read
 * @returns whether it is stored as that: not if the task or a dependency has changed since it was read
 */
export async function storeHeld(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  dependencies: readonly StoredTask[],
): Promise<boolean> {
  const after = withHeld(task, isHeld(task, dependencies));
  if (after === task) return true;
  return transactIfFirst(table, [
    ...changeWrites(organization, task, after),
    ...checkDependencies(organization, dependencies),
  ]);
}
