import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../../lib/contract/endpoints.ts';
import type { Operation } from '../../../../lib/contract/routes.ts';
import { dataOf, errorOf, versionOf } from '../../../api.ts';
import { newWebhook } from '../../../functions/webhooks/webhook-caller.ts';
import { loseResponses } from '../../../table/fixtures/table-server.ts';
import { posts } from './cases.ts';
import { createTenants, type Request, type Tenant } from './tenant.ts';

const { newTenant, engine } = await createTenants();

let tenant: Tenant;

/** The operations that change something, except POSTs, whose cases are in cases.ts. */
type Change = {
  [Name in Operation]: (typeof endpoints)[Name]['method'] extends 'PATCH' | 'PUT' | 'DELETE' ? Name : never;
}[Operation];

/** The test case of a change: its preparation, and the check that it was made exactly once. */
type Case = {
  prepare: () => Promise<Request>;
  expectDone: (request: Request) => unknown;
};

/** What a request is sent with, besides its token. */
type Sent = { key?: string; ifMatch?: string };

const task = async () => ({ id: await tenant.tasks.put() });
const claimedTask = async () => {
  const params = await task();
  await tenant.tasks.claimTask({ params, body: { worker: 'a worker' } });
  return params;
};
const comment = async () => {
  const params = await task();
  const { id: commentId } = dataOf(await tenant.tasks.commentOnTask({ params, body: { text: 'Old.' } }));
  return { ...params, commentId };
};
const agent = async () => ({ name: await tenant.agents.put({ soul: 'Old.' }) });
const assigned = async () => {
  const { name } = await agent();
  await tenant.agents.assign(name, { skillId: 'sk_code-review' });
  return { name, skillId: 'sk_code-review' };
};
const webhook = async () => ({
  id: dataOf(await tenant.send('registerWebhook', { body: { ...newWebhook, secret: 'a secret' } })).id,
});

/** Returns a case for each body. Afterwards the resource must have this version; without one, it must be deleted. */
const casesOf = (
  createParams: () => Promise<Record<string, string>>,
  read: Operation,
  version?: number,
  bodies: (object | undefined)[] = [undefined],
): (Case & { read: Operation })[] =>
  bodies.map((body) => ({
    read,
    prepare: async () => ({ params: await createParams(), body }),
    expectDone: async ({ params = {} }) => {
      const answer = await tenant.send(read, { params });
      expect(answer.status).toBe(version ? 200 : 404);
      if (version) expect(versionOf(answer)).toBe(version);
    },
  }));

/** The cases of each operation, several if it writes in several ways. `tsc` fails for an operation without a case. */
const changes: Record<Change, ReturnType<typeof casesOf>> = {
  updateTask: casesOf(task, 'getTask', 2, [
    { title: 'New' },
    { status: 'qa_review' },
    { title: 'New', description: 'New', assignedAgent: 'qa-reviewer', projectId: 'proj_new' },
  ]),
  deleteTask: casesOf(task, 'getTask'),
  takeBackTask: casesOf(claimedTask, 'getTask', 3),
  updateComment: casesOf(comment, 'getTask', 1, [{ text: 'New.' }]),
  deleteComment: casesOf(comment, 'getTask', 1),
  updateAgent: casesOf(agent, 'getAgent', 2, [{ displayName: 'New' }, { systemPrompt: 'New.' }, { status: 'draft' }]),
  updateSoul: casesOf(agent, 'getAgent', 2, [{ soul: 'New.' }, { soul: '' }]),
  deleteAgent: casesOf(agent, 'getAgent'),
  unassignSkill: casesOf(assigned, 'getAgent', 3),
  updateWebhook: casesOf(webhook, 'getWebhook', 2, [
    { url: 'https://example.com/new' },
    { url: 'https://example.com/new', events: ['task.completed', 'agent.failed'], description: 'New' },
  ]),
  deleteWebhook: casesOf(webhook, 'getWebhook'),
};

/** Sends a request once for each of its writes, drops the response to that write, and expects a success. */
async function forEachWrite(
  operation: Operation,
  { prepare, expectDone }: Case,
  sentWith: (request: Request) => Promise<Sent> | Sent,
): Promise<void> {
  for (let nth = 0; ; nth++) {
    tenant = await newTenant();
    const request = await prepare();
    const by = await sentWith(request);
    const lost = loseResponses(engine, { nth });
    const answer = await tenant.send(operation, request, by);
    engine.reset();
    if (lost.length === 0) return expect(nth).toBeGreaterThan(0);
    expect([answer.status, errorOf(answer)]).toEqual([endpoints[operation].status, undefined]);
    await expectDone(request);
  }
}

describe.each(Object.entries(changes) as [Change, (typeof changes)[Change]][])('%s', (operation, all) => {
  it.each(all)('succeeds if the response to a write is lost (%#)', async (one) => {
    await forEachWrite(operation, one, async ({ params = {} }) => {
      const { ETag = '' } = (await tenant.send(one.read, { params })).headers;
      return { ifMatch: ETag };
    });
  });
});

describe.each(posts)('%s', (operation, { prepare, counts }) => {
  it.each([
    ['with', { key: 'key' }],
    ['without', {}],
  ])('%s an Idempotency-Key is carried out once and succeeds if the response to a write is lost', async (_, by) => {
    const expectDone = async (request: Request) => expect(new Set(await counts(tenant, request))).toEqual(new Set([1]));
    await forEachWrite(operation, { prepare: () => prepare(tenant), expectDone }, () => by);
  });
});
