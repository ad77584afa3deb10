import { hashKey, type QueryClient } from '@tanstack/react-query';
import type { Answer } from '../../../client/client.ts';
import type { TaskListItem, TaskStatus } from '../../../client/operations.ts';
import type { Filters } from './tasks.ts';

/** A task on a page of a column, and its place in the column. */
export type PlacedTask = { place: number; task: TaskListItem };

/**
 * Returns the tasks on the pages of columns that were read, the pages that were read last first.
 *
 * @param of.status the column; all if unset
 * @param of.type `active` leaves out the pages that no column shows any more, which are not kept up to date
 */
export function cachedTasks(
  cache: QueryClient,
  filters: Filters,
  of: { status?: TaskStatus; type?: 'active' } = {},
): readonly PlacedTask[] {
  const hash = hashKey([filters]);
  return cache
    .getQueryCache()
    .findAll({ queryKey: ['tasks', 'column', ...(of.status ? [of.status] : [])], type: of.type ?? 'all' })
    .filter(({ queryKey }) => hashKey([queryKey[3]]) === hash)
    .sort((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt)
    .flatMap(({ state }) => (state.data ? placedTasks(state.data as Answer<'listTasks'>) : []));
}

/** Returns the tasks on a page of a column with their places. */
export function placedTasks({ data, pagination }: Answer<'listTasks'>): readonly PlacedTask[] {
  return data.map((task, at) => ({ place: pagination.offset + at, task }));
}

/** Returns a task as the board has read it last. */
export function cachedTask(cache: QueryClient, filters: Filters, id: string): TaskListItem | undefined {
  return cachedTasks(cache, filters).find(({ task }) => task.id === id)?.task;
}
