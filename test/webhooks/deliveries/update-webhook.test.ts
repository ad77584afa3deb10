import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { findDifferences } from '../../../infra/cli/reconcile/differences.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { dynamodbError } from '../../table/fixtures/dynamodb-errors.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const edit = (id: string, patch: WebhookPatch) => updateWebhook(webhooks, webhooks.organization, id, patch, () => {});
const later = () => {
  webhooks.clock.now += 1;
};
const differences = () => findDifferences(webhooks.table, webhooks.organization, '2026-03-01T12:00:00.000Z');
const compare = () => {
  const now = webhooks.clock() + 24 * 3_600_000;
  return compareDeliveries(webhooks, webhooks.organization, { from: startTime, to: now, now });
};
const added: EventName[] = ['task.completed', 'task.created'];

describe('an event that is added to a webhook', () => {
  it('is sent for each change after the edit, and reconcile finds nothing wrong', async () => {
    const { id } = await webhooks.register({ events: ['task.completed'] });
    later();
    await edit(id, { events: added });
    expect(await webhooks.publish()).toMatchObject([{ webhookId: id }]);
    expect(await differences()).toEqual([]);
  });

  it('is not sent for an earlier change, however late it is published, also not a second time', async () => {
    const { id } = await webhooks.register({ events: ['task.completed'] });
    const [published, late] = [webhooks.change(), webhooks.change()];
    await webhooks.publish(published);
    later();
    await edit(id, { events: added });
    expect(await webhooks.publish(late)).toEqual([]);
    expect(await webhooks.publish(published)).toEqual([]);
    expect(await compare()).toMatchObject({ events: 2, deliveries: 0, lost: [] });
  });

  it('again after it was removed is not sent for a change in between', async () => {
    const { id } = await webhooks.register();
    later();
    await edit(id, { events: ['agent.failed'] });
    const between = webhooks.change();
    later();
    await edit(id, { events: ['task.created'] });
    expect(await webhooks.publish(between)).toEqual([]);
    expect(await webhooks.publish()).toHaveLength(1);
    expect(await differences()).toEqual([]);
  });
});

describe('an event that a webhook keeps', () => {
  it('is sent for a change before the edit that is published after it', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    later();
    await edit(id, { events: added });
    expect(await webhooks.publish(change)).toMatchObject([{ webhookId: id }]);
  });
});

describe('an event that is removed from a webhook', () => {
  it('is not published any more, and no delivery counts as lost', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    await edit(id, { events: ['agent.failed'] });
    expect(await webhooks.publish(change)).toEqual([]);
    expect(await compare()).toMatchObject({ events: 1, deliveries: 0, lost: [] });
    expect(await differences()).toEqual([]);
  });

  it('is still sent again if its retry waits', async () => {
    const retry = await webhooks.retry();
    await edit(retry.webhookId, { events: ['agent.failed'] });
    webhooks.clock.now = Date.parse(retry.dueAt);
    expect((await webhooks.attempt(retry)).posts).toBe(1);
  });
});

it('a waiting retry goes to the new URL of its webhook', async () => {
  const retry = await webhooks.retry();
  await edit(retry.webhookId, { url: 'https://example.com/new' });
  webhooks.clock.now = Date.parse(retry.dueAt);
  const { posts, send } = notingSender();
  await webhooks.deliver(retry, send);
  expect(posts).toMatchObject([{ url: 'https://example.com/new' }]);
});

it('a change whose webhook cannot be read with its newest attempts changes nothing', async () => {
  const { id } = await webhooks.register();
  const before = await webhooks.dump();
  const table = interceptTable(webhooks.table, async (send, { input }) => {
    if (!('KeyConditionExpression' in input)) return send();
    // A write that does not wait for this read is made before it fails.
    for (let turns = 0; turns < 100; turns++) await setImmediate();
    throw dynamodbError('InternalServerError');
  });
  const change = updateWebhook({ ...webhooks, table }, webhooks.organization, id, { active: false }, () => {});
  await expect(change).rejects.toThrow();
  expect(await webhooks.dump()).toEqual(before);
});
