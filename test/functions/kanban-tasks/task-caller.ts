import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { dataOf } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { newCaller, openService, pointFunctionsAt, type Service } from '../../service.ts';

/** An organization's caller of the API, with the steps that several tests of tasks share. */
export type TaskCaller = ReturnType<typeof taskCallerOf>;

/**
 * Creates a table and points the handlers of this process at it. A test file calls it once, before its first request.
 * Each `newTaskCaller` creates an organization.
 */
export async function createTaskCallers() {
  const service = await openService();
  pointFunctionsAt(service);
  return {
    service,
    newTaskCaller: async (scopes?: readonly Scope[]) => {
      const { organization, token } = await newCaller(processContext(), scopes);
      return taskCallerOf(service, organization, token);
    },
  };
}

/** Returns a caller of the API for an organization and a token. */
export function taskCallerOf(service: Service, organization: Organization, token: string) {
  const caller = createCaller(service, organization, token);
  return {
    ...caller,

    /** Creates a task and returns its id. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await caller.createTask({ body: { title: 'A task', ...fields } });
      expect(answer.status).toBe(201);
      return dataOf(answer).id;
    },

    /** Sets an attribute of a task in the table to a value that requests cannot set. */
    setAttribute: (id: string, name: string, value: unknown) =>
      service.table.client.send(
        new UpdateCommand({
          TableName: service.tableName,
          Key: keys.task(organization, ulidOf(id)),
          UpdateExpression: 'SET #name = :value',
          ExpressionAttributeNames: { '#name': name },
          ExpressionAttributeValues: { ':value': value },
        }),
      ),
  };
}

/** The ids of the most dependents that a task can have. */
export const allDependents = new Set(Array.from({ length: 500 }, (_, at) => `tk_01K${String(at).padStart(23, '0')}`));
