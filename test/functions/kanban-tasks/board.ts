import { expect } from 'vitest';
import { handler as createTask } from '../../../functions/kanban-tasks/create-task.ts';
import { handler as deleteTask } from '../../../functions/kanban-tasks/delete-task.ts';
import { handler as getTask } from '../../../functions/kanban-tasks/get-task.ts';
import { handler as listTasks } from '../../../functions/kanban-tasks/list-tasks.ts';
import { handler as updateTask } from '../../../functions/kanban-tasks/update-task.ts';
import { app } from '../../../lib/app.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { RefusalDetail } from '../../../lib/contract/refusals.ts';
import type { Task } from '../../../lib/contract/tasks.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { type Answer, call, newCaller, openService, type Sent, type Service } from '../../service.ts';
import { dumpOf } from '../../table-dump.ts';

/** The error of a refusal. */
export type RefusalBody = { code: string; message: string; details?: RefusalDetail[]; requestId: string };

/** The five task endpoints, as one caller sends to them. */
export type Board = ReturnType<typeof boardOf>;

const path = '/api/kanban-tasks';

/** The `data` of an answer. */
export function dataOf<Data = Task>(answer: Answer): Data {
  return (answer.body as unknown as { data: Data }).data;
}

/** The `error` of an answer. */
export function errorOf(answer: Answer): RefusalBody {
  return (answer.body as unknown as { error: RefusalBody }).error;
}

/** The `pagination` of an answer. */
export function paginationOf(answer: Answer): { limit: number; offset: number; total: number } {
  return (answer.body as unknown as { pagination: { limit: number; offset: number; total: number } }).pagination;
}

/**
 * Points the handlers of this process at a table of the test file's own. A test file calls it once, before its first
 * request; each `newBoard` is an organization of its own.
 */
export async function openBoards() {
  const service = await openService();
  process.env[environment.tableName] = service.tableName;
  process.env[environment.dynamodbEndpoint] = service.endpoint;
  return {
    service,
    newBoard: async (scopes?: readonly Scope[]) => {
      const { organization, token } = await newCaller(app(), scopes);
      return boardOf(service, organization, token);
    },
  };
}

/** The board of an organization, as the bearer of a token sends to it. */
export function boardOf(service: Service, organization: Organization, token: string) {
  const at = (id: string) => ({ path: `${path}/${id}`, params: { id } });
  const board = {
    organization,
    token,
    list: (query = '', more: Sent = {}) => call(listTasks, { method: 'GET', path, query, token, ...more }),
    create: (body?: unknown, more: Sent = {}) => call(createTask, { method: 'POST', path, body, token, ...more }),
    get: (id: string, more: Sent = {}) => call(getTask, { method: 'GET', ...at(id), token, ...more }),
    update: (id: string, body?: unknown, more: Sent = {}) =>
      call(updateTask, { method: 'PATCH', ...at(id), body, token, ...more }),
    delete: (id: string, more: Sent = {}) => call(deleteTask, { method: 'DELETE', ...at(id), token, ...more }),
    /** The same organization, by another token. */
    by: (other: string) => boardOf(service, organization, other),

    /** Puts a task on the board and returns its id. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await board.create({ title: 'A task', ...fields });
      expect(answer.status).toBe(201);
      return dataOf(answer).id;
    },

    /** Everything that the organization has in the table. */
    dump: () => dumpOf(service.table, organization),

    /** Sends what must be refused, and checks status, code and that nothing was written. */
    refuses: async (send: () => Promise<Answer>, status: number, code: string): Promise<RefusalBody> => {
      const before = await board.dump();
      const answer = await send();
      expect([answer.status, errorOf(answer)?.code]).toEqual([status, code]);
      expect(answer.body.success).toBe(false);
      expect(await board.dump()).toEqual(before);
      return errorOf(answer);
    },
  };
  return board;
}
