import { beforeEach, describe, expect, it } from 'vitest';
import { endpoints } from '../../../../lib/contract/endpoints.ts';
import { type Operation, routes } from '../../../../lib/contract/routes.ts';
import { dataOf, errorOf } from '../../../api.ts';
import { loseResponses } from '../../../engine-proxy.ts';
import { newWebhook } from '../../../functions/webhooks/webhook-caller.ts';
import type { Answer } from '../../../service.ts';
import { cases, type Post } from './cases.ts';
import { createTenants, type Request, type Tenant } from './tenant.ts';

const { newTenant, engine } = await createTenants();

let tenant: Tenant;
beforeEach(async () => {
  tenant = await newTenant();
});

/** The operations that change something, except POSTs, whose cases are in cases.ts. */
type Change = {
  [Name in Operation]: (typeof endpoints)[Name]['method'] extends 'PATCH' | 'PUT' | 'DELETE' ? Name : never;
}[Operation];

/** The test case of a change: its preparation, and the check that it was made exactly once. */
type Case = {
  prepare: () => Promise<Request>;
  expectDone: (request: Request, answer: Answer) => unknown;
};

const task = async () => ({ id: await tenant.tasks.put() });
const agent = async () => ({ name: await tenant.agents.put() });
const isAt = (read: Operation, version: string) => async (request: Request) => {
  const { headers } = await tenant.send(read, { params: request.params ?? {} });
  expect(headers.ETag).toBe(version);
};
const isGone = (read: Operation) => async (request: Request) => {
  expect((await tenant.send(read, { params: request.params ?? {} })).status).toBe(404);
};

/**
 * The cases of each operation; several if it can write in several ways. `tsc` fails for an operation without a case.
 */
const changes: Record<Change, Case[]> = {
  updateTask: [
    { title: 'New' },
    { status: 'qa_review' },
    { title: 'New', description: 'New', assignedAgent: 'qa-reviewer', projectId: 'proj_new' },
  ].map((body) => ({
    prepare: async () => ({ params: await task(), body }),
    expectDone: isAt('getTask', '"2"'),
  })),
  deleteTask: [{ prepare: async () => ({ params: await task() }), expectDone: isGone('getTask') }],
  updateAgent: [{ displayName: 'New' }, { systemPrompt: 'New.' }, { status: 'draft' }].map((body) => ({
    prepare: async () => ({ params: await agent(), body }),
    expectDone: isAt('getAgent', '"2"'),
  })),
  updateSoul: [{ soul: 'New.' }, { soul: '' }].map((body) => ({
    prepare: async () => ({ params: { name: await tenant.agents.put({ soul: 'Old.' }) }, body }),
    expectDone: isAt('getAgent', '"2"'),
  })),
  deleteAgent: [{ prepare: async () => ({ params: await agent() }), expectDone: isGone('getAgent') }],
  unassignSkill: [
    {
      prepare: async () => {
        const { name } = await agent();
        await tenant.agents.assign(name, { skillId: 'sk_code-review' });
        return { params: { name, skillId: 'sk_code-review' } };
      },
      expectDone: isAt('getAgent', '"3"'),
    },
  ],
  deleteWebhook: [
    {
      prepare: async () => {
        const { id } = dataOf(await tenant.send('registerWebhook', { body: { ...newWebhook, secret: 'a secret' } }));
        return { params: { id } };
      },
      expectDone: async () => expect(dataOf<unknown[]>(await tenant.send('listWebhooks'))).toEqual([]),
    },
  ],
};

it('every operation that changes something has a case', () => {
  const changing = routes.filter(([, { method }]) => method !== 'GET').map(([operation]) => operation);
  expect([...Object.keys(changes), ...Object.keys(cases)].sort()).toEqual(changing.sort());
});

/** Sends a request once for each of its writes, and drops the response to that write. */
async function forEachWrite(
  prepare: () => Promise<Request>,
  send: (request: Request) => Promise<Answer>,
  expectDone: (request: Request, answer: Answer) => unknown,
): Promise<number> {
  for (let nth = 0; ; nth++) {
    tenant = await newTenant();
    const request = await prepare();
    const lost = loseResponses(engine, { nth });
    const answer = await send(request);
    engine.reset();
    if (lost.length === 0) return nth;
    await expectDone(request, answer);
  }
}

describe.each(Object.entries(changes) as [Change, Case[]][])('%s', (operation, all) => {
  it.each(all)(`succeeds if the response to a write is lost (%#)`, async (one) => {
    const writes = await forEachWrite(
      one.prepare,
      (request) => tenant.send(operation, request, { ifMatch: '"1"' }),
      async (request, answer) => {
        expect([answer.status, errorOf(answer)]).toEqual([endpoints[operation].status, undefined]);
        await one.expectDone(request, answer);
      },
    );
    expect(writes).toBeGreaterThan(0);
  });
});

describe.each(Object.entries(cases) as [Post, (typeof cases)[Post]][])('%s', (operation, { prepare, counts }) => {
  it.each([
    ['with', { key: 'key' }],
    ['without', {}],
  ])('%s an Idempotency-Key is carried out once and succeeds if the response to a write is lost', async (_, by) => {
    const writes = await forEachWrite(
      () => prepare(tenant),
      (request) => tenant.send(operation, request, by),
      async (request, answer) => {
        expect([answer.status, errorOf(answer)]).toEqual([endpoints[operation].status, undefined]);
        expect(new Set(await counts(tenant, request))).toEqual(new Set([1]));
      },
    );
    expect(writes).toBeGreaterThan(0);
  });
});
