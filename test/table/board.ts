import { ulid } from 'ulid';
import type { Context } from '../../lib/context.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { NewTask, Task } from '../../lib/contract/tasks.ts';
import type { RecordResponse } from '../../lib/table/idempotency.ts';
import { createTask } from '../../lib/tasks/tasks.ts';
import { type Clock, clockAt, newCaller, openService, type Service } from '../service.ts';
import { withoutStream } from './seed.ts';

/** The agents that every organization of a test has. */
export const agents = ['qa-reviewer', 'prompt-improver'] as const;

/** An organization's board over a table of its own, by the very functions that the handlers call. */
export type Board = {
  app: Context;
  table: Service['table'];
  /** Where the table's engine answers. */
  engine: string;
  ulid: () => string;
  defaultModel: string;
  allowedModels: Context['allowedModels'];
  preparedAgents: Context['preparedAgents'];
  organization: Organization;
  clock: Clock;
  /** Puts a task on the board; what is not named is the default of a create. */
  put: (fields?: Partial<NewTask>, once?: RecordResponse) => Promise<Task>;
};

/**
 * Opens a board on a new table. Its stream is off: these tests write much, none of them reads the stream, and the
 * engine would take twice the time.
 */
export async function openBoard(clock: Clock = clockAt(Date.UTC(2026, 0, 1))): Promise<Board> {
  const { app, table, endpoint: engine } = await openService(clock);
  await withoutStream(table);
  const { organization } = await newCaller(app);
  const { allowedModels, preparedAgents } = app;
  const defaultModel = 'some.model';
  const context = { table, clock, ulid: () => ulid(clock()), defaultModel, allowedModels, preparedAgents };
  return {
    ...context,
    app,
    engine,
    organization,
    put: (fields, once) => createTask(context, organization, newTask(fields), once),
  };
}

/** The body of a create, its defaults filled in. */
export const newTask = (fields: Partial<NewTask> = {}): NewTask => ({
  title: 'A task',
  status: 'backlog',
  priority: 'medium',
  dependsOn: [],
  ...fields,
});

/** The precondition of a caller who sends no `If-Match`. */
export const always = () => {};

/** The refusal that an attempt ends with, `undefined` where it succeeds; any other error is thrown on. */
export async function errorOf(attempt: Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
