import { beforeEach, describe, expect, it } from 'vitest';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { type Operation, routes } from '../../../lib/contract/routes.ts';
import { dataOf, errorOf } from '../../api.ts';
import { newWebhook } from '../../functions/webhooks/registry.ts';
import type { Answer } from '../../service.ts';
import { loseAnswers } from '../../watched-engine.ts';
import { cases, type Post } from './cases.ts';
import { type Office, openOffices, type Request } from './office.ts';

const { newOffice, engine } = await openOffices();

let office: Office;
beforeEach(async () => {
  office = await newOffice();
});

/** The operations that change something, except POSTs, which have their cases beside this. */
type Change = {
  [Name in Operation]: (typeof endpoints)[Name]['method'] extends 'PATCH' | 'PUT' | 'DELETE' ? Name : never;
}[Operation];

/** How a change is put to the test: what it needs, and what is true once it was made exactly once. */
type Case = {
  prepare: () => Promise<Request>;
  expectDone: (request: Request, answer: Answer) => unknown;
};

const task = async () => ({ id: await office.board.put() });
const agent = async () => ({ name: await office.registry.put() });
const isAt = (read: Operation, version: string) => async (request: Request) => {
  const { headers } = await office.send(read, { params: request.params ?? {} });
  expect(headers.ETag).toBe(version);
};
const isGone = (read: Operation) => async (request: Request) => {
  expect((await office.send(read, { params: request.params ?? {} })).status).toBe(404);
};

/** Each of them; several where one operation writes in several ways. A row without a case does not pass `tsc`. */
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
    prepare: async () => ({ params: { name: await office.registry.put({ soul: 'Old.' }) }, body }),
    expectDone: isAt('getAgent', '"2"'),
  })),
  deleteAgent: [{ prepare: async () => ({ params: await agent() }), expectDone: isGone('getAgent') }],
  unassignSkill: [
    {
      prepare: async () => {
        const { name } = await agent();
        await office.registry.assign(name, { skillId: 'sk_code-review' });
        return { params: { name, skillId: 'sk_code-review' } };
      },
      expectDone: isAt('getAgent', '"3"'),
    },
  ],
  deleteWebhook: [
    {
      prepare: async () => {
        const { id } = dataOf(await office.send('registerWebhook', { body: { ...newWebhook, secret: 'a secret' } }));
        return { params: { id } };
      },
      expectDone: async () => expect(dataOf<unknown[]>(await office.send('listWebhooks'))).toEqual([]),
    },
  ],
};

it('every operation that changes something has its case here', () => {
  const changing = routes.filter(([, { method }]) => method !== 'GET').map(([operation]) => operation);
  expect([...Object.keys(changes), ...Object.keys(cases)].sort()).toEqual(changing.sort());
});

/** Sends a request once for each write that it makes, and has the answer to that write lost. */
async function forEachWrite(
  prepare: () => Promise<Request>,
  send: (request: Request) => Promise<Answer>,
  expectDone: (request: Request, answer: Answer) => unknown,
): Promise<number> {
  for (let nth = 0; ; nth++) {
    office = await newOffice();
    const request = await prepare();
    const lost = loseAnswers(engine, { nth });
    const answer = await send(request);
    engine.relent();
    if (lost.length === 0) return nth;
    await expectDone(request, answer);
  }
}

describe.each(Object.entries(changes) as [Change, Case[]][])('%s', (operation, all) => {
  it.each(all)(`is carried out, and answered so, where the answer to a write is lost (%#)`, async (one) => {
    const writes = await forEachWrite(
      one.prepare,
      (request) => office.send(operation, request, { ifMatch: '"1"' }),
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
  ])(
    '%s an Idempotency-Key is carried out once, and answered so, where the answer to a write is lost',
    async (_, by) => {
      const writes = await forEachWrite(
        () => prepare(office),
        (request) => office.send(operation, request, by),
        async (request, answer) => {
          expect([answer.status, errorOf(answer)]).toEqual([endpoints[operation].status, undefined]);
          expect(new Set(await counts(office, request))).toEqual(new Set([1]));
        },
      );
      expect(writes).toBeGreaterThan(0);
    },
  );
});
