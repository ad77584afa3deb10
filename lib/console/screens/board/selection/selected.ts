import type { TaskListItem } from '../../../../client/operations.ts';

/** The largest number of tasks that can be selected. */
export const mostSelected = 100;

/** The selected tasks by their ids, as the user has seen them when they were selected. */
export type Selected = ReadonlyMap<string, TaskListItem>;

/** Returns a selection with more tasks; `undefined` if these are too many. */
export function withTasks(selected: Selected, tasks: readonly TaskListItem[]): Selected | undefined {
  const all = new Map([...selected, ...tasks.map((task) => [task.id, task] as const)]);
  return all.size > mostSelected ? undefined : all;
}

/** Returns a selection without some tasks. */
export function withoutTasks(selected: Selected, ids: readonly string[]): Selected {
  return new Map([...selected].filter(([id]) => !ids.includes(id)));
}
