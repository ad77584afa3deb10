import { taskPriorities, taskStatuses } from '../../lib/contract/tasks.ts';
import type { StoredTask, TaskFilter } from '../../lib/table/tasks/task-items.ts';
import { randomFrom } from '../soak/random.ts';
import { bareTasks } from '../table/tasks/seed.ts';

/** The number of tasks of a page. */
export const pageSize = 20;

/** The text of every task: its item is nearly 1 KB with it. */
const description = 'x'.repeat(650);

const agent = 'qa-reviewer';
const project = 'proj_apollo';

/**
 * The measured filters: one for each way in which a list is read. Each matches more than a page of the smallest board, so
 * that all responses have the same size.
 */
export const listFilters: readonly TaskFilter[] = [
  {},
  { status: 'done' },
  { priority: 'medium' },
  { status: 'done', priority: 'medium' },
  { agent },
  { agent, project },
];

/** Returns the query of a filter. */
export function queryOf({ status, priority, agent, project }: TaskFilter): string {
  const parameters = { status, priority, assigned_agent: agent, project_id: project };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}

/** The period of a list's counter, in ms (docs/architecture.md#lists-and-counts). */
const periodMs = 2 ** 30;
const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * The start of a board's year: that of a period, so that the oldest period is a full one. The deepest page is in it, and a
 * list cannot skip parts of a period.
 */
const start = Math.ceil(Date.UTC(2025, 0, 1) / periodMs) * periodMs;

/**
 * Returns the tasks of a board, the same each time, spread evenly over a year. Half are done, half have medium priority,
 * half an agent and half a project, each independently of the others; the rest are spread over the other values.
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

/** Returns the measured offsets of a list: of its first page, of that at 1,000 and of the last full one. */
export function offsetsOf(total: number): { first: 0; middle?: 1000; deepest: number } {
  return { first: 0, ...(total >= 1000 + pageSize && { middle: 1000 }), deepest: total - pageSize };
}
