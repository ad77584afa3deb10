import { beforeEach, describe, expect, it } from 'vitest';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { createWebhookCallers, newWebhook, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

const fields = ['id', 'url', 'events', 'active', 'createdAt'];
const all = async () => dataOf<Webhook[]>(await caller.list());
const absent = 'wh_01K00000000000000000000000';

describe('the list of webhooks', () => {
  it('is empty before the first registration, and is not paged', async () => {
    expect((await caller.list()).body).toEqual({ success: true, data: [] });
  });

  it('has exactly the declared fields', async () => {
    const registered = dataOf<Webhook>(await caller.register({ ...newWebhook, secret: 'a secret' }));
    expect((await caller.list()).body).toEqual({ success: true, data: [registered] });
    expect((await all()).map((webhook) => Object.keys(webhook))).toEqual([fields]);
  });

  it('is newest first', async () => {
    const ids = [];
    for (let nth = 0; nth < 3; nth++) ids.push(await caller.put());
    const listed = await all();
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
    const times = listed.map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(times).toEqual([...times].sort().reverse());
  });

  it.each(['limit=1', 'offset=1', 'active=true'])('takes no query: %s is refused', async (query) => {
    await caller.refuses(() => caller.list(query), 400, 'validation_failed');
  });

  it("has nothing of another organization's", async () => {
    await (await newWebhookCaller()).put();
    expect(await all()).toEqual([]);
  });
});

describe('a webhook', () => {
  it('is read with exactly the declared fields', async () => {
    const registered = dataOf<Webhook>(await caller.register({ ...newWebhook, secret: 'a secret' }));
    const answer = await caller.get(registered.id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: registered });
    expect(Object.keys(dataOf(answer))).toEqual(fields);
  });

  it('has lastDeliveryAt beside them once something was sent, in the list and in the single read', async () => {
    const id = await caller.put();
    const now = Date.now();
    await caller.attempt(id);
    const read = dataOf<Webhook>(await caller.get(id));
    expect(Object.keys(read)).toEqual(['id', 'url', 'events', 'active', 'lastDeliveryAt', 'createdAt']);
    expect(Date.parse(read.lastDeliveryAt ?? '')).toBeGreaterThanOrEqual(now);
    expect(await all()).toEqual([read]);
  });

  it.each([absent, 'wh_1', 'register', absent.toLowerCase(), 'tk_01K00000000000000000000000', ''])(
    'that there is not is answered with 404 by every operation: %j',
    async (id) => {
      await caller.refuses(() => caller.get(id), 404, 'not_found');
      await caller.refuses(() => caller.delete(id), 404, 'not_found');
      await caller.refuses(() => caller.deliveries(id), 404, 'not_found');
    },
  );

  it("of another organization's is answered as one that there is not", async () => {
    const other = await newWebhookCaller();
    const id = await other.put();
    const [theirs, nobodys] = [await caller.get(id), await caller.get(absent)];
    expect({ ...theirs.body, error: 0 }).toEqual({ ...nobodys.body, error: 0 });
    await caller.refuses(() => caller.get(id), 404, 'not_found');
    await caller.refuses(() => caller.delete(id), 404, 'not_found');
    await caller.refuses(() => caller.deliveries(id), 404, 'not_found');
    expect((await other.get(id)).status).toBe(200);
  });
});

describe('deleting a webhook', () => {
  it('answers success and nothing else', async () => {
    const answer = await caller.delete(await caller.put({ secret: 'a secret' }));
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
  });

  it('takes it from every read at once', async () => {
    const [id, other] = [await caller.put({ secret: 'a secret' }), await caller.put()];
    await caller.delete(id);
    expect((await all()).map((webhook) => webhook.id)).toEqual([other]);
    await caller.refuses(() => caller.get(id), 404, 'not_found');
    await caller.refuses(() => caller.deliveries(id), 404, 'not_found');
    await caller.refuses(() => caller.delete(id), 404, 'not_found');
  });
});

describe('the scopes', () => {
  const read = async () => [await caller.list(), await caller.get(absent), await caller.deliveries(absent)];
  const write = async () => [await caller.register(), await caller.delete(absent)];
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);

  it('webhooks:read reads and does not write', async () => {
    caller = await newWebhookCaller(['webhooks:read']);
    expect(statuses(await read())).toEqual([200, 404, 404]);
    expect(statuses(await write())).toEqual([403, 403]);
    expect(await caller.dump()).not.toHaveProperty(`O#${caller.organization}#WN -`);
  });

  it('webhooks:write writes and does not read', async () => {
    caller = await newWebhookCaller(['webhooks:write']);
    expect(statuses(await read())).toEqual([403, 403, 403]);
    expect(statuses(await write())).toEqual([201, 404]);
  });

  it('of tasks and agents open nothing of it', async () => {
    caller = await newWebhookCaller(['tasks:read', 'tasks:write', 'agents:read', 'agents:write', 'agents:execute']);
    expect(statuses([...(await read()), ...(await write())])).toEqual([403, 403, 403, 403, 403]);
  });
});
