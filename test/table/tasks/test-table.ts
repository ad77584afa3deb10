import { ulid } from 'ulid';
import { ApiError } from '../../../lib/contract/errors.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { NewTask, TaskPatch } from '../../../lib/contract/tasks/tasks.ts';
import type { RecordResponse } from '../../../lib/table/idempotency.ts';
import { followTask } from '../../../lib/table/tasks/search-entries.ts';
import { createTask, deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { clockAt, newCaller, openService } from '../../service.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { faultsOf, tasksOf } from './oracle.ts';

/** Names of agents that every organization of a test has. */
export const agents = ['qa-reviewer', 'prompt-improver'] as const;

/** An organization with a table of its own. Its tasks are created by the functions that the handlers call. */
export type TestTable = Awaited<ReturnType<typeof createTestTable>>;

/** Creates an organization in a new table. */
export async function createTestTable(clock = clockAt(Date.UTC(2026, 0, 1))) {
  const { app, table } = await openService(clock);
  const { organization } = await newCaller(app);
  const { allowedModels, preparedAgents } = app;
  const defaultModel = 'some.model';
  const context = { table, clock, ulid: () => ulid(clock()), defaultModel, allowedModels, preparedAgents };
  return {
    ...context,
    app,
    organization,
    /** Creates a task; missing fields have the defaults of a creation. */
    put: (fields?: Partial<NewTask>, once?: RecordResponse) => createTask(context, organization, newTask(fields), once),
    patch: (id: string, fields: TaskPatch) => updateTask(context, organization, id, fields, always),
    remove: (id: string) => deleteTask(context, organization, id, always),
    /** Writes the search entry of each task, as the stream does. */
    followTasks: async (of = organization) => {
      const tasks = await tasksOf(table, of);
      await Promise.all(tasks.map((task) => followTask({ table, batchers: {} }, of, undefined, task)));
    },
    /** Returns all items of the organization. */
    dump: () => dumpOf(table, organization),
    /** Returns what is wrong in these items (`faultsOf`). */
    faults: () => faultsOf(table, organization),
  };
}

let organizations = 0;

/** Returns an organization that no other test has. */
export const newOrganization = () => `own-${++organizations}-` as Organization;

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
