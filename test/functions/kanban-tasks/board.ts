import { expect } from 'vitest';
import { app } from '../../../lib/app.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { RefusalDetail } from '../../../lib/contract/refusals.ts';
import type { Task } from '../../../lib/contract/tasks.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { createApi } from '../../api.ts';
import { type Answer, newCaller, openService, type Service } from '../../service.ts';
import { dumpOf } from '../../table-dump.ts';

/** The error of a refusal. */
export type RefusalBody = { code: string; message: string; details?: RefusalDetail[]; requestId: string };

/** An organization's caller of the API, with what tests of tasks do more than once. */
export type Board = ReturnType<typeof boardOf>;

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
  const board = {
    ...createApi(token),
    organization,
    token,
    /** The same organization, by another token. */
    by: (other: string) => boardOf(service, organization, other),

    /** Puts a task on the board and returns its id. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await board.createTask({ body: { title: 'A task', ...fields } });
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
