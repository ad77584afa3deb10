import { ulid } from 'ulid';
import type { Context } from '../../../lib/context.ts';
import { ApiError } from '../../../lib/contract/errors.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { NewTask, Task } from '../../../lib/contract/tasks.ts';
import type { RecordResponse } from '../../../lib/table/idempotency.ts';
import { createTask } from '../../../lib/tasks/tasks.ts';
import { type Clock, clockAt, newCaller, openService, type Service } from '../../service.ts';
import { withoutStream } from './seed.ts';

/** Names of agents that every organization of a test has. */
export const agents = ['qa-reviewer', 'prompt-improver'] as const;

/** An organization with a table of its own. Its tasks are created by the functions that the handlers call. */
export type TestTable = {
  app: Context;
  table: Service['table'];
  /** The endpoint of the table's engine. */
  engine: string;
  ulid: () => string;
  defaultModel: string;
  allowedModels: Context['allowedModels'];
  preparedAgents: Context['preparedAgents'];
  organization: Organization;
  clock: Clock;
  /** Creates a task; missing fields have the defaults of a creation. */
  put: (fields?: Partial<NewTask>, once?: RecordResponse) => Promise<Task>;
};

/**
 * Creates an organization in a new table. The stream of the table is off: no test reads it, and with a stream the engine
 * takes twice the time.
 */
export async function createTestTable(clock: Clock = clockAt(Date.UTC(2026, 0, 1))): Promise<TestTable> {
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

/** Returns the body of a creation with its defaults. */
export const newTask = (fields: Partial<NewTask> = {}): NewTask => ({
  title: 'A task',
  status: 'backlog',
  priority: 'medium',
  dependsOn: [],
  ...fields,
});

/** The precondition of a request without `If-Match`: never fails. */
export const always = () => {};

/** Returns the `ApiError` that a call rejects with, `undefined` if the call succeeds. Rethrows any other error. */
export async function errorOf(call: Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
