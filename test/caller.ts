import { beforeEach, expect } from 'vitest';
import type { Organization } from '../lib/contract/organization.ts';
import { createApi, type ErrorBody, errorOf } from './api.ts';
import type { Answer, Service } from './service.ts';
import { dumpOf } from './table/fixtures/table-dump.ts';

/** Creates a caller of an organization: every operation by one token, and checks of what the table holds. */
export function createCaller(service: Service, organization: Organization, token: string) {
  /** Everything that the organization has in the table. */
  const dump = () => dumpOf(service.table, organization);

  /** Sends a request that must be refused. Checks the status, the code and that nothing was written. */
  async function refuses(send: () => Promise<Answer>, status: number, code: string): Promise<ErrorBody> {
    const before = await dump();
    const answer = await send();
    expect([answer.status, errorOf(answer)?.code]).toEqual([status, code]);
    expect(answer.body.success).toBe(false);
    expect(await dump()).toEqual(before);
    return errorOf(answer);
  }

  return { ...createApi(token), organization, token, dump, refuses };
}

/** Returns an object that has the properties of a new one, such as a caller of a new organization, in each test. */
export function newForEachTest<Given extends object>(create: () => Promise<Given>): Given {
  const given = {} as Given;
  beforeEach(async () => void Object.assign(given, await create()));
  return given;
}
