import type { TaskListItem, TaskStatus } from '../../../client/operations.ts';

/** The number of tasks in a page of a column. */
export const pageSize = 50;

/** A page of a column: the offset of its first task, and its tasks. */
export type ColumnPage = { offset: number; tasks: readonly TaskListItem[] };

/** A change of a task's status that the service has not confirmed and the column has not read yet. */
export type Move = { task: TaskListItem; to: TaskStatus };

/**
 * Returns the cards of a column, the newest first: `undefined` in the place of a task that is not loaded. Tasks that are
 * being moved are in their new columns already. The result depends on the read pages and the moves only, so it is right
 * whether the pages were read before or after the service carried out a move.
 */
export function slotsOf(
  status: TaskStatus,
  total: number,
  pages: readonly ColumnPage[],
  moves: readonly Move[],
): (TaskListItem | undefined)[] {
  const slots = new Array<TaskListItem | undefined>(total).fill(undefined);
  for (const { offset, tasks } of pages)
    for (const [at, task] of tasks.entries()) if (offset + at < total) slots[offset + at] = task;
  for (const { task, to } of moves) {
    const at = slots.findIndex((one) => one?.id === task.id);
    if (to !== status && at >= 0) slots.splice(at, 1);
    if (to === status && at < 0) slots.splice(placeOf(task, slots), 0, { ...task, status: to });
  }
  return slots;
}

/** Returns the index of a task that enters a list: before the first older task, else before the first unknown one. */
function placeOf(task: TaskListItem, slots: readonly (TaskListItem | undefined)[]): number {
  // The ids of tasks sort by the time of creation.
  const older = slots.findIndex((one) => one !== undefined && one.id < task.id);
  if (older >= 0) return older;
  const unknown = slots.indexOf(undefined);
  return unknown >= 0 ? unknown : slots.length;
}

/** Returns the offsets of the pages with the cards from one index to another. The first page is always read, for the total. */
export function pagesAround(first: number, last: number): number[] {
  const offsets = new Set([0]);
  for (let page = Math.floor(first / pageSize); page <= Math.floor(last / pageSize); page++)
    offsets.add(page * pageSize);
  return [...offsets];
}
