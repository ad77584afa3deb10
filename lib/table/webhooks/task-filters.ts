import type { TaskFilter } from '../../contract/webhooks/webhooks.ts';

/** The fields of a task that filters name. */
export type TaskFields = { projectId?: string | undefined; assignedAgent?: string | undefined };

/** The filter of a webhook from a time on (ISO 8601). Without a field, every event matches. */
export type TaskFilterChange = TaskFilter & { from: string };

/** How many filters of a webhook are kept. An event from before the oldest one matches none. */
const keptFilters = 10;

/** Returns the current filter of a webhook; `undefined` if it has none. */
export function currentFilter(changes: readonly TaskFilterChange[] | undefined): TaskFilter | undefined {
  const { from, ...filter } = changes?.at(-1) ?? { from: '' };
  return Object.keys(filter).length > 0 ? filter : undefined;
}

/**
 * Returns the filters of a webhook after a change.
 *
 * @param before its filters; `undefined` if it never had one
 * @param filter the filter from now on; `undefined` for none
 */
export function changedFilters(
  before: readonly TaskFilterChange[] | undefined,
  filter: TaskFilter | undefined,
  { createdAt, now }: { createdAt: string; now: string },
): TaskFilterChange[] {
  return [...(before ?? [{ from: createdAt }]), { ...filter, from: now }].slice(-keptFilters);
}

/**
 * Returns whether a webhook receives an event by the filter that it had at the time of the event.
 *
 * @param changes the filters of the webhook; `undefined` if it never had one
 * @param at the time of the event (Unix time, in ms)
 * @param readTask returns the fields of the event's task; `undefined` for an event without a task
 */
export function matchesFilter(
  changes: readonly TaskFilterChange[] | undefined,
  at: number,
  readTask: () => TaskFields | undefined,
): boolean {
  if (!changes) return true;
  const change = changes.findLast(({ from }) => Date.parse(from) <= at);
  if (!change) return false;
  const { from, ...filter } = change;
  return isMatch(filter, readTask);
}

/**
 * Returns whether a filter lets an event pass.
 *
 * @param filter `undefined` for none
 * @param readTask returns the fields of the event's task; `undefined` for an event without a task
 */
export function isMatch(filter: TaskFilter | undefined, readTask: () => TaskFields | undefined): boolean {
  const wanted = Object.entries(filter ?? {}) as [keyof TaskFilter, string][];
  if (wanted.length === 0) return true;
  const task = readTask();
  return task !== undefined && wanted.every(([field, value]) => task[field] === value);
}
