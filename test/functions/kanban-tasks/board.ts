import { expect } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { dataOf } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { newCaller, openService, type Service } from '../../service.ts';

/** An organization's caller of the API, with what tests of tasks do more than once. */
export type Board = ReturnType<typeof boardOf>;

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
      const { organization, token } = await newCaller(processContext(), scopes);
      return boardOf(service, organization, token);
    },
  };
}

/** The board of an organization, as the bearer of a token sends to it. */
export function boardOf(service: Service, organization: Organization, token: string) {
  const caller = createCaller(service, organization, token);
  return {
    ...caller,

    /** The same organization, by another token. */
    by: (other: string) => boardOf(service, organization, other),

    /** Puts a task on the board and returns its id. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await caller.createTask({ body: { title: 'A task', ...fields } });
      expect(answer.status).toBe(201);
      return dataOf(answer).id;
    },
  };
}
