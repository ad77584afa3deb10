import { join } from 'node:path';
import { openLocalTable } from '../../infra/local/table/local-table.ts';
import { createContext, setProcessContext } from '../../lib/context/context.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { taskPriorities, taskStatuses } from '../../lib/contract/tasks/tasks.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { environment } from '../../lib/names/environment.ts';
import { searchEntry } from '../../lib/table/tasks/search-entries.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { bareTasks, boardItems, writeItems } from '../table/tasks/seed.ts';
import { type Bench, createFolder } from './bench.ts';

/** A board: its number of tasks, and a token of its organization. */
export type ListBoard = { count: number; token: string };

/**
 * The measured filters by their names: one for each way in which a list is read. Each matches more than a page of the
 * smallest board, so that all responses have the same size.
 */
export const listFilters = {
  none: '',
  status: 'status=done',
  priority: 'priority=medium',
  'status, priority': 'status=done&priority=medium',
  agent: 'assigned_agent=qa-reviewer',
  'agent, project': 'assigned_agent=qa-reviewer&project_id=proj_apollo',
} as const;

/** The name of a measured filter. */
export type ListFilter = keyof typeof listFilters;

const tableName = 'lists';
const yearMs = 365 * 24 * 60 * 60 * 1000;

/** Writes a board of each size, each to an organization, and makes their table the table of this process. */
export async function writeBoards(bench: Bench, counts: readonly number[]): Promise<ListBoard[]> {
  const path = join(createFolder(bench), 'table.db');
  const variables = { [environment.tableName]: tableName };
  const open = () => openLocalTable({ path, tableName, kinds: [], durability: 'normal' });
  const writing = open();
  bench.atEnd(writing.close);
  const context = createContext({ environment: variables, clock: Date.now, table: writing.table });
  const boards: ListBoard[] = [];
  for (const count of counts) {
    bench.say(`writing ${count} tasks`);
    const organization = `org-${count}` as Organization;
    const tasks = tasksOfBoard(count);
    const entries = tasks.map((task) => searchEntry(organization, task));
    await writeItems(writing.table, [...boardItems(organization, tasks), ...entries]);
    boards.push({ count, token: await issueToken(context, { organization, scopes: ['tasks:read'] }) });
  }
  await writing.close();
  // Opened again, as by a service that has not written yet.
  const { table, close } = open();
  bench.atEnd(close);
  setProcessContext({ environment: { ...process.env, ...variables }, clock: Date.now, table });
  return boards;
}

/**
 * Returns the tasks of a board, spread evenly over a year. Half are done, half have medium priority, half an agent and half
 * a project, each independently of the others; the rest are spread over the other values.
 */
function tasksOfBoard(count: number): StoredTask[] {
  const timeAt = (nth: number) => Date.UTC(2025, 0, 1) + Math.floor((nth * yearMs) / count);
  return bareTasks(count, timeAt).map((task, nth) => {
    const isSet = (bit: number) => Math.floor(nth / 2 ** bit) % 2 === 1;
    const round = Math.floor(nth / 16);
    return {
      ...task,
      // The item of a task is nearly 1 KB with it.
      description: 'x'.repeat(650),
      status: isSet(0) ? otherThan(taskStatuses, 'done', round) : 'done',
      priority: isSet(1) ? otherThan(taskPriorities, 'medium', round) : 'medium',
      ...(!isSet(2) && { assignedAgent: 'qa-reviewer' }),
      ...(!isSet(3) && { projectId: 'proj_apollo' }),
    };
  });
}

function otherThan<Value>(values: readonly Value[], one: Value, nth: number): Value {
  const others = values.filter((value) => value !== one);
  return others[nth % others.length] as Value;
}
