import { taskPriorities, taskStatuses } from '../../lib/contract/tasks.ts';
import type { StoredTask, TaskFilter } from '../../lib/table/task-items.ts';
import { randomFrom } from '../soak/random.ts';
import { bareTasks } from '../table/seed.ts';

/** How many tasks a page has. */
export const pageSize = 20;

/** The text of every task: its item is nearly 1 KB with it. */
const description = 'x'.repeat(650);

const agent = 'qa-reviewer';
const project = 'proj_apollo';

/**
 * The filters that are measured: each of the ways in which a list is read. Each matches a full page of even the
 * smallest board, so that what is compared is the size of the board and not that of the answer.
 */
export const listFilters: readonly TaskFilter[] = [
  {},
  { status: 'done' },
  { priority: 'medium' },
  { status: 'done', priority: 'medium' },
  { agent },
  { agent, project },
];

/** The query parameters of a filter, as a caller spells them. */
export function queryOf({ status, priority, agent, project }: TaskFilter): string {
  const parameters = { status, priority, assigned_agent: agent, project_id: project };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}

/** The period of a list's counter, in ms (docs/architecture.md#lists-and-counts). */
const epochMs = 2 ** 30;
const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * Where the year of a board begins: with an period, so that the oldest is a full one. The deepest page lies in it, and
 * all of an period is the most that cannot be skipped.
 */
const start = Math.ceil(Date.UTC(2025, 0, 1) / epochMs) * epochMs;

/**
 * The tasks of a board of this size, the same each time, spread evenly over a year: one in two is done, of medium
 * priority, an agent's, a project's, each independently of the others; the rest are spread over the other values.
 */
export function tasksOfBoard(count: number): StoredTask[] {
  const timeAt = (nth: number) => start + Math.floor((nth * yearMs) / count);
  return bareTasks(count, timeAt, randomFrom(count)).map((task, nth) => {
    const isSet = (bit: number) => Math.floor(nth / 2 ** bit) % 2 === 1;
    const round = Math.floor(nth / 16);
    return {
      ...task,
      description,
      status: isSet(0) ? otherThan(taskStatuses, 'done', round) : 'done',
      priority: isSet(1) ? otherThan(taskPriorities, 'medium', round) : 'medium',
      ...(!isSet(2) && { assignedAgent: agent }),
      ...(!isSet(3) && { projectId: project }),
    };
  });
}

function otherThan<Value>(values: readonly Value[], one: Value, nth: number): Value {
  const others = values.filter((value) => value !== one);
  return others[nth % others.length] as Value;
}

/** The offsets that are measured in a list of so many: its first page, the one at 1,000 and the last full one. */
export function offsetsOf(total: number): { first: 0; middle?: 1000; deepest: number } {
  return { first: 0, ...(total >= 1000 + pageSize && { middle: 1000 }), deepest: total - pageSize };
}
