import { describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { dataOf, tagOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { unknownEvent } from '../../values/unknown-event.ts';
import { createWebhookCallers, newWebhook } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);

/** Edits a webhook, and returns it. */
async function edit(id: string, body: object): Promise<Webhook> {
  const answer = await caller.edit(id, body);
  expect(answer.status).toBe(200);
  return dataOf<Webhook>(answer);
}

/** Returns the events whose subscriptions the webhook has in the table. */
async function subscriptionsOf(id: string): Promise<string[]> {
  const items = Object.values(await caller.dump()) as { pk: string; sk: string }[];
  return items
    .filter(({ pk, sk }) => sk === ulidOf(id) && pk.includes('#S#'))
    .map(({ pk }) => pk.split('#').at(-1) as string)
    .sort();
}

describe('editing a webhook', () => {
  it('changes the named fields, and returns the webhook as it is read and listed', async () => {
    const id = await caller.put({ description: 'Staging' });
    await caller.attempt(id);
    const before = dataOf<Webhook>(await caller.get(id));
    const url = 'https://example.com/new';
    expect(await edit(id, { url })).toEqual({ ...before, url });
    const description = 'Production';
    const events = ['agent.failed'];
    const after = await edit(id, { events, description });
    expect(after).toEqual({ ...before, url, events, description });
    expect(dataOf(await caller.get(id))).toEqual(after);
    const { lastSuccessAt, ...listed } = after;
    expect(lastSuccessAt).toBe(after.lastDeliveryAt);
    expect(dataOf(await caller.list())).toEqual([listed]);
  });

  it('replaces the subscriptions with those of the new events', async () => {
    const id = await caller.put({ events: ['task.created', 'task.completed'] });
    await edit(id, { events: ['agent.failed', 'task.completed'] });
    expect(await subscriptionsOf(id)).toEqual(['agent.failed', 'task.completed']);
  });

  it('removes the description by null; a webhook without one does not show it', async () => {
    const id = await caller.put({ description: 'Staging' });
    expect(dataOf(await caller.get(id))).toMatchObject({ description: 'Staging' });
    expect(await edit(id, { description: null })).not.toHaveProperty('description');
    for (const webhook of [dataOf(await caller.get(id)), ...dataOf<Webhook[]>(await caller.list())])
      expect(webhook).not.toHaveProperty('description');
  });

  it('changes the filter as a whole, and removes it by null', async () => {
    const [projectId, assignedAgent] = ['proj_website', 'an-agent-that-does-not-exist'];
    const id = await caller.put({ taskFilter: { projectId } });
    expect(dataOf(await caller.get(id))).toMatchObject({ taskFilter: { projectId } });
    for (const taskFilter of [{ assignedAgent }, { projectId, assignedAgent }]) {
      expect((await edit(id, { taskFilter })).taskFilter).toEqual(taskFilter);
      expect(dataOf<Webhook[]>(await caller.list())[0]?.taskFilter).toEqual(taskFilter);
    }
    expect(await edit(id, { taskFilter: null })).not.toHaveProperty('taskFilter');
    for (const webhook of [dataOf(await caller.get(id)), ...dataOf<Webhook[]>(await caller.list())])
      expect(webhook).not.toHaveProperty('taskFilter');
  });

  it('changes the maximum of attempts in a second, and removes it by null', async () => {
    const id = await caller.put({ maxPerSecond: 1_000 });
    expect(dataOf(await caller.get(id))).toMatchObject({ maxPerSecond: 1_000 });
    expect((await edit(id, { maxPerSecond: 1 })).maxPerSecond).toBe(1);
    expect(await edit(id, { maxPerSecond: null })).not.toHaveProperty('maxPerSecond');
    expect(dataOf<Webhook[]>(await caller.list())[0]).not.toHaveProperty('maxPerSecond');
  });

  it('counts 500 characters in a description', async () => {
    const id = await caller.put({ description: '🙂'.repeat(500) });
    expect((await edit(id, { description: '🙂'.repeat(499) })).description).toBe('🙂'.repeat(499));
  });

  it('writes nothing if nothing changes', async () => {
    const taskFilter = { projectId: 'proj_a', assignedAgent: 'writer' };
    const fields = { description: 'Staging', maxPerSecond: 5, taskFilter };
    const id = await caller.put(fields);
    const before = await caller.dump();
    const sameFilter = { taskFilter: { assignedAgent: 'writer', projectId: 'proj_a' } };
    for (const body of [{}, newWebhook, fields, sameFilter]) await edit(id, body);
    expect(await caller.dump()).toEqual(before);
  });

  it('keeps the secret and the pace, and sends the next test event to the new URL', async () => {
    const receiver = await startReceiver();
    const id = await caller.put({ secret: 'a secret' });
    await edit(id, { url: receiver.url });
    expect((await caller.test(id)).status).toBe(200);
    expect(receiver.received).toMatchObject([
      { headers: { 'x-service-signature': expect.stringMatching(/^sha256=/) } },
    ]);
  });

  it('begins at version 1, also for webhooks of earlier versions, which have the same items', async () => {
    const id = await caller.put();
    const item = await getItem(service.table, keys.webhook(caller.organization, ulidOf(id)));
    expect(Object.keys(item ?? {}).sort()).toEqual(['active', 'events', 'pk', 'sk', 'url']);
    const read = await caller.get(id);
    expect(versionOf(read)).toBe(1);
    const answer = await caller.edit(id, { events: ['agent.failed'] }, { headers: { 'If-Match': tagOf(read, 1) } });
    expect([answer.status, versionOf(answer)]).toEqual([200, 2]);
    const late = () => caller.edit(id, { description: 'Late' }, { headers: { 'If-Match': tagOf(read, 1) } });
    await caller.refuses(late, 412, 'precondition_failed');
  });

  it('leaves no subscription behind if the webhook is deleted at the same time', async () => {
    for (let nth = 0; nth < 10; nth++) {
      const id = await caller.put();
      const [, deleted] = await Promise.all([caller.edit(id, { events: ['agent.failed'] }), caller.delete(id)]);
      expect(deleted.status).toBe(200);
      expect(await subscriptionsOf(id)).toEqual([]);
    }
  });
});

describe('pausing a webhook', () => {
  it('sets active to false until it is resumed, as it is read and listed, and changes the version', async () => {
    const id = await caller.put();
    for (const [active, version] of [
      [false, 2],
      [true, 3],
    ] as const) {
      expect((await edit(id, { active })).active).toBe(active);
      const answer = await caller.get(id);
      expect([dataOf<Webhook>(answer), versionOf(answer)]).toMatchObject([{ id, active }, version]);
      expect(dataOf(await caller.list())).toEqual([dataOf<Webhook>(answer)]);
    }
  });

  it('writes nothing if the webhook is paused already, or active', async () => {
    const id = await caller.put();
    for (const active of [true, false, true]) {
      await edit(id, { active });
      const before = await caller.dump();
      await edit(id, { active });
      expect(await caller.dump()).toEqual(before);
    }
  });

  it('needs the current version in If-Match', async () => {
    const id = await caller.put();
    const headers = { 'If-Match': tagOf(await caller.get(id), 2) };
    const late = () => caller.edit(id, { active: false }, { headers });
    await caller.refuses(late, 412, 'precondition_failed');
  });

  it('stops deliveries, but no test event, and leaves changes and rotations possible', async () => {
    const receiver = await startReceiver();
    const id = await caller.put({ secret: 'a secret' });
    await edit(id, { active: false });
    await caller.attempt(id);
    expect(dataOf(await caller.deliveries(id))).toEqual([]);
    expect(await edit(id, { url: receiver.url })).toMatchObject({ url: receiver.url, active: false });
    expect(dataOf(await caller.rotate(id))).toMatchObject({ active: false });
    expect(dataOf(await caller.test(id))).toMatchObject({ httpStatus: 204 });
    expect(receiver.received).toHaveLength(1);
    expect(dataOf(await caller.get(id))).toMatchObject({ active: false });
  });
});

describe('an edit is refused, and nothing is changed,', () => {
  it.each([
    ['events', 'invalid_value', { events: [] }],
    ['events.0', 'invalid_value', { events: [unknownEvent] }],
    ['events', 'invalid_type', { events: null }],
    ['url', 'invalid_value', { url: 'not a URL' }],
    ['url', 'invalid_type', { url: null }],
    ['url', 'invalid_value', { url: 'http://example.com/hooks' }],
    ['description', 'invalid_value', { description: 'd'.repeat(501) }],
    ['description', 'invalid_type', { description: 5 }],
    ['taskFilter', 'invalid_type', { taskFilter: 'proj_a' }],
    ['taskFilter', 'invalid_value', { taskFilter: {} }],
    ['taskFilter.projectId', 'invalid_value', { taskFilter: { projectId: 'a' } }],
    ['taskFilter.projectId', 'invalid_type', { taskFilter: { projectId: null } }],
    ['taskFilter.assignedAgent', 'invalid_value', { taskFilter: { assignedAgent: 'A B' } }],
    ['taskFilter.project', 'unknown_field', { taskFilter: { projectId: 'proj_a', project: 'proj_a' } }],
    ['maxPerSecond', 'invalid_value', { maxPerSecond: 0 }],
    ['maxPerSecond', 'invalid_value', { maxPerSecond: 1_001 }],
    ['maxPerSecond', 'invalid_value', { maxPerSecond: 1.5 }],
    ['maxPerSecond', 'invalid_type', { maxPerSecond: '5' }],
    ['active', 'invalid_type', { active: 'no' }],
    ['active', 'invalid_type', { active: null }],
    ['lastDeliveryAt', 'read_only', { lastDeliveryAt: '2026-11-22T00:00:00.000Z' }],
    ['event', 'unknown_field', { event: ['task.created'] }],
  ])('with 400 for %s: %s', async (path, code, body) => {
    const id = await caller.put();
    const { details } = await caller.refuses(() => caller.edit(id, body), 400, 'validation_failed');
    expect(details).toEqual([expect.objectContaining({ path, code })]);
  });

  it('with 400 for a secret, which names the endpoint that replaces it', async () => {
    const id = await caller.put({ secret: 'a secret' });
    const { message } = await caller.refuses(() => caller.edit(id, { secret: 'another' }), 400, 'validation_failed');
    expect(message).toBe('secret cannot be set here; use POST /api/webhooks/:id/rotate-secret.');
  });

  it.each(['https://10.0.0.1/hooks', 'https://user:password@example.com/', 'https://example.com:9000/'])(
    'with 422 for a URL that a registration refuses: %s',
    async (url) => {
      const id = await caller.put();
      await caller.refuses(() => caller.edit(id, { url, description: 'New' }), 422, 'url_not_allowed');
    },
  );

  it('with 404 for a webhook that does not exist, was deleted, or is of another organization', async () => {
    const deleted = await caller.put();
    await caller.delete(deleted);
    const other = await (await newWebhookCaller()).put();
    for (const id of ['wh_01K00000000000000000000000', 'registered', deleted, other])
      await caller.refuses(() => caller.edit(id, { description: 'New' }), 404, 'not_found');
  });

  it('with 403 for a token that may not write webhooks', async () => {
    const id = await caller.put();
    const reader = await newWebhookCaller(['webhooks:read', 'tasks:write', 'agents:write']);
    await reader.refuses(() => reader.edit(id, { description: 'New' }), 403, 'insufficient_scope');
  });

  it.each([
    ['a description that is too long', { description: 'd'.repeat(501) }],
    ['a filter without a value', { taskFilter: {} }],
    ['a maximum above 1,000', { maxPerSecond: 1_001 }],
    ['a filter with an unknown field', { taskFilter: { priority: 'high' } }],
  ])('with 400 for %s at the registration', async (_, fields) => {
    const body = { ...newWebhook, ...fields };
    await caller.refuses(() => caller.register(body), 400, 'validation_failed');
  });
});
