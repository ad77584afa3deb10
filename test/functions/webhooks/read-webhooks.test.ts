import { beforeEach, describe, expect, it } from 'vitest';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { newWebhook, openRegistries, type Registry } from './registry.ts';

const { newRegistry } = await openRegistries();
let registry: Registry;

beforeEach(async () => {
  registry = await newRegistry();
});

const fields = ['id', 'url', 'events', 'active', 'createdAt'];
const all = async () => dataOf<Webhook[]>(await registry.list());
const absent = 'wh_01K00000000000000000000000';

describe('the list of webhooks', () => {
  it('is empty before the first registration, and is not paged', async () => {
    expect((await registry.list()).body).toEqual({ success: true, data: [] });
  });

  it('has exactly the declared fields', async () => {
    const registered = dataOf<Webhook>(await registry.register({ ...newWebhook, secret: 'a secret' }));
    expect((await registry.list()).body).toEqual({ success: true, data: [registered] });
    expect((await all()).map((webhook) => Object.keys(webhook))).toEqual([fields]);
  });

  it('is newest first', async () => {
    const ids = [];
    for (let nth = 0; nth < 3; nth++) ids.push(await registry.put());
    const listed = await all();
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
    const times = listed.map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(times).toEqual([...times].sort().reverse());
  });

  it.each(['limit=1', 'offset=1', 'active=true'])('takes no query: %s is refused', async (query) => {
    await registry.refuses(() => registry.list(query), 400, 'validation_failed');
  });

  it("has nothing of another organization's", async () => {
    await (await newRegistry()).put();
    expect(await all()).toEqual([]);
  });
});

describe('a webhook', () => {
  it('is read with exactly the declared fields', async () => {
    const registered = dataOf<Webhook>(await registry.register({ ...newWebhook, secret: 'a secret' }));
    const answer = await registry.get(registered.id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: registered });
    expect(Object.keys(dataOf(answer))).toEqual(fields);
  });

  it('has lastDeliveryAt beside them once something was sent, in the list and in the single read', async () => {
    const id = await registry.put();
    const now = Date.now();
    await registry.attempt(id);
    const read = dataOf<Webhook>(await registry.get(id));
    expect(Object.keys(read)).toEqual(['id', 'url', 'events', 'active', 'lastDeliveryAt', 'createdAt']);
    expect(Date.parse(read.lastDeliveryAt ?? '')).toBeGreaterThanOrEqual(now);
    expect(await all()).toEqual([read]);
  });

  it.each([absent, 'wh_1', 'register', absent.toLowerCase(), 'tk_01K00000000000000000000000', ''])(
    'that there is not is answered with 404 by every operation: %j',
    async (id) => {
      await registry.refuses(() => registry.get(id), 404, 'not_found');
      await registry.refuses(() => registry.delete(id), 404, 'not_found');
      await registry.refuses(() => registry.deliveries(id), 404, 'not_found');
    },
  );

  it("of another organization's is answered as one that there is not", async () => {
    const other = await newRegistry();
    const id = await other.put();
    const [theirs, nobodys] = [await registry.get(id), await registry.get(absent)];
    expect({ ...theirs.body, error: 0 }).toEqual({ ...nobodys.body, error: 0 });
    await registry.refuses(() => registry.get(id), 404, 'not_found');
    await registry.refuses(() => registry.delete(id), 404, 'not_found');
    await registry.refuses(() => registry.deliveries(id), 404, 'not_found');
    expect((await other.get(id)).status).toBe(200);
  });
});

describe('deleting a webhook', () => {
  it('answers success and nothing else', async () => {
    const answer = await registry.delete(await registry.put({ secret: 'a secret' }));
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
  });

  it('takes it from every read at once', async () => {
    const [id, other] = [await registry.put({ secret: 'a secret' }), await registry.put()];
    await registry.delete(id);
    expect((await all()).map((webhook) => webhook.id)).toEqual([other]);
    await registry.refuses(() => registry.get(id), 404, 'not_found');
    await registry.refuses(() => registry.deliveries(id), 404, 'not_found');
    await registry.refuses(() => registry.delete(id), 404, 'not_found');
  });
});

describe('the scopes', () => {
  const read = async () => [await registry.list(), await registry.get(absent), await registry.deliveries(absent)];
  const write = async () => [await registry.register(), await registry.delete(absent)];
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);

  it('webhooks:read reads and does not write', async () => {
    registry = await newRegistry(['webhooks:read']);
    expect(statuses(await read())).toEqual([200, 404, 404]);
    expect(statuses(await write())).toEqual([403, 403]);
    expect(await registry.dump()).not.toHaveProperty(`O#${registry.organization}#WN -`);
  });

  it('webhooks:write writes and does not read', async () => {
    registry = await newRegistry(['webhooks:write']);
    expect(statuses(await read())).toEqual([403, 403, 403]);
    expect(statuses(await write())).toEqual([201, 404]);
  });

  it('of tasks and agents open nothing of it', async () => {
    registry = await newRegistry(['tasks:read', 'tasks:write', 'agents:read', 'agents:write', 'agents:execute']);
    expect(statuses([...(await read()), ...(await write())])).toEqual([403, 403, 403, 403, 403]);
  });
});
