import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { NewWebhook, Webhook } from '../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../lib/names/messages.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { transact } from '../../lib/table/access/transact.ts';
import { storeFailing } from '../../lib/table/webhooks/failing.ts';
import { readTarget, type Target } from '../../lib/table/webhooks/webhooks.ts';
import { noteFailure, noteSuccess } from '../../lib/webhooks/announce-failures.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';
import { deleteWebhook, getWebhook, updateWebhook } from '../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../table/fixtures/intercepted-table.ts';
import { recover } from './recoveries/test-recoveries.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from './test-webhooks.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
let id: string;
beforeEach(async () => {
  webhooks = createTestWebhooks();
  ({ id } = await webhooks.register({ url: 'https://example.com:8443/hooks?key=secret', description: 'Orders' }));
});

const at = (ms: number) => timestamp(startTime + ms);
const get = async (): Promise<Webhook> => (await getWebhook(webhooks, webhooks.organization, id)).data;
const change = (patch: object, of = id) => updateWebhook(webhooks, webhooks.organization, of, patch, () => {});
const target = async () => (await readTarget(webhooks, webhooks.organization, id)) as Target;
const namesOf = (events: readonly { event: string }[]) => events.map(({ event }) => event);
const announced = async () => namesOf(await webhooks.ownEvents());

/** The data of an event about the webhook. */
const data = (more: object, ms: number) => ({
  webhook: { id, host: 'example.com:8443', description: 'Orders', active: true, ...more },
  occurredAt: at(ms),
});

/** Publishes an event, and returns the message for the webhook. */
async function nextMessage(): Promise<DeliveryMessage> {
  const messages = await webhooks.publish();
  return messages.find(({ webhookId }) => webhookId === id) as DeliveryMessage;
}

/** Makes the first attempts of new deliveries, one each second, and returns the messages of their retries. */
async function fail(count: number): Promise<DeliveryMessage[]> {
  const retries: DeliveryMessage[] = [];
  for (let nth = 0; nth < count; nth++) {
    webhooks.clock.now += 1_000;
    retries.push(await webhooks.retry(await nextMessage()));
  }
  return retries;
}

async function succeed(): Promise<void> {
  webhooks.clock.now += 1_000;
  await webhooks.attempt(await nextMessage());
}

/** Makes all attempts of a new delivery, which fail. */
const exhaust = async () => webhooks.attemptAll(await nextMessage(), notingSender(failed).send);

/** Makes the first attempts of two deliveries, which end together in two processes whose clocks differ. */
async function attemptTogether(outcome: object): Promise<void> {
  const messages = [await nextMessage(), await nextMessage()];
  const begun = [];
  for (const [nth, message] of messages.entries()) {
    const container = { ...webhooks.createContainer(), clock: () => webhooks.clock() + nth };
    begun.push(await webhooks.beginAttempt(message, outcome, container));
  }
  await Promise.all(begun.map(({ letGo }) => letGo()));
}

/** Sends a test event to a receiver with an outcome. */
const sendTest = (outcome: object = {}) =>
  testWebhook(
    { ...webhooks, sender: notingSender(outcome).send },
    webhooks.organization,
    { webhookId: id, event: 'task.created' },
    undefined,
  );

describe('webhook.failing is announced', () => {
  it('once, when three deliveries have failed, with the host of the receiver and since when it fails', async () => {
    await fail(2);
    expect(await webhooks.ownEvents()).toEqual([]);
    await fail(1);
    const [event, ...others] = await webhooks.ownEvents();
    expect(event).toEqual({
      ...{ webhookId: id, event: 'webhook.failing', number: 1 },
      data: data({ failingSince: at(1_000) }, 3_000),
    });
    expect(others).toEqual([]);
    await fail(3);
    await exhaust();
    expect(await announced()).toEqual(['webhook.failing']);
    expect(await get()).toMatchObject({ failingSince: at(1_000) });
  });

  it('when a delivery has failed permanently, although others succeed', async () => {
    let message = await nextMessage();
    for (let attempt = 1; attempt < 4; attempt++) {
      message = await webhooks.retry(message);
      await succeed();
      webhooks.clock.now = Date.parse(message.dueAt);
    }
    expect(await announced()).toEqual([]);
    await webhooks.attempt(message, failed);
    expect(await webhooks.ownEvents()).toMatchObject([
      { event: 'webhook.failing', data: { webhook: { failingSince: message.dueAt } } },
    ]);
  });

  it('by one of two workers that see the third failure at the same time', async () => {
    await fail(2);
    await attemptTogether(failed);
    expect(await announced()).toEqual(['webhook.failing']);
  });

  it('not by three failed attempts of one or two deliveries, or by three with a success in between', async () => {
    const [retry] = (await fail(2)) as [DeliveryMessage];
    webhooks.clock.now = Date.parse(retry.dueAt);
    await webhooks.retry(retry);
    await succeed();
    await fail(2);
    await succeed();
    await fail(2);
    expect(await announced()).toEqual([]);
  });

  it('not by failed tests', async () => {
    for (let nth = 0; nth < 5; nth++) await sendTest(failed);
    await fail(2);
    expect(await announced()).toEqual([]);
  });

  it('not again by a worker that has seen the webhook before it failed and recovered', async () => {
    const before = await target();
    await fail(3);
    await succeed();
    await fail(1);
    await noteFailure(webhooks, webhooks.organization, id, before, true);
    expect(await announced()).toEqual(['webhook.failing', 'webhook.recovered']);
  });

  it('by the next failed attempt, if the worker was lost after the third', async () => {
    const [retry] = (await fail(2)) as [DeliveryMessage];
    const table = interceptTable(webhooks.table, async (send, command) => {
      if (command instanceof TransactWriteCommand) throw new Error('The worker is lost.');
      return send();
    });
    const third = webhooks.attempt(await nextMessage(), failed, { ...webhooks.createContainer(), table });
    await expect(third).rejects.toThrow('The worker is lost.');
    expect(await announced()).toEqual([]);
    webhooks.clock.now = Date.parse(retry.dueAt);
    await webhooks.retry(retry);
    expect(await webhooks.ownEvents()).toMatchObject([{ data: { webhook: { failingSince: at(1_000) } } }]);
  });
});

describe('webhook.recovered is announced', () => {
  beforeEach(async () => void (await fail(3)));

  it('once, by the next success, with the beginning of the time that has ended', async () => {
    await succeed();
    await succeed();
    expect((await webhooks.ownEvents()).slice(1)).toEqual([
      {
        ...{ webhookId: id, event: 'webhook.recovered', number: 2 },
        data: data({ failingSince: at(1_000) }, 4_000),
      },
    ]);
    expect(await get()).not.toHaveProperty('failingSince');
  });

  it('by one of two attempts that succeed at the same time', async () => {
    await attemptTogether({});
    expect(await announced()).toEqual(['webhook.failing', 'webhook.recovered']);
  });

  it('by a successful test, and not by a failed one', async () => {
    await sendTest(failed);
    expect(await announced()).toEqual(['webhook.failing']);
    await sendTest();
    expect(await announced()).toEqual(['webhook.failing', 'webhook.recovered']);
  });

  it('although a caller pauses the webhook just before', async () => {
    let isPaused = false;
    const table = interceptTable(webhooks.table, async (send, command) => {
      if (command instanceof TransactWriteCommand && !isPaused) {
        isPaused = true;
        await change({ active: false });
      }
      return send();
    });
    await webhooks.attempt(await nextMessage(), {}, { ...webhooks.createContainer(), table });
    expect(await webhooks.ownEvents()).toMatchObject([
      { event: 'webhook.failing' },
      { event: 'webhook.paused', data: { webhook: { failingSince: at(1_000) } } },
      { event: 'webhook.recovered', data: { webhook: { active: false, failingSince: at(1_000) } } },
    ]);
  });

  it('not by an attempt that began before, when the webhook has failed again since', async () => {
    const before = await target();
    await succeed();
    await fail(3);
    await noteSuccess(webhooks, webhooks.organization, id, before);
    expect(await announced()).toEqual(['webhook.failing', 'webhook.recovered', 'webhook.failing']);
  });

  it('before its attempt is recorded, so that a lost worker loses no event', async () => {
    const message = await nextMessage();
    const before = await webhooks.history(id);
    const seen: unknown[] = [];
    const table = { ...webhooks.table, beforeWrite: async () => void seen.push(await webhooks.history(id)) };
    await webhooks.attempt(message, {}, { ...webhooks.createContainer(), table });
    expect(seen).toEqual([before]);
    expect(await announced()).toEqual(['webhook.failing', 'webhook.recovered']);
  });
});

describe('webhook.paused is announced', () => {
  it('when a caller pauses a webhook, and nothing when the caller changes, resumes or deletes it', async () => {
    await change({ description: 'Orders' });
    await change({ maxPerSecond: 5 });
    await change({ active: false });
    await change({ active: false, url: 'https://example.com/other' });
    await change({ active: true });
    await deleteWebhook(webhooks, webhooks.organization, id, () => {});
    expect(await webhooks.ownEvents()).toEqual([
      { webhookId: id, event: 'webhook.paused', number: 1, data: data({ active: false }, 0) },
    ]);
  });

  it('with since when the webhook fails, as a read has it, also before three deliveries have failed', async () => {
    await fail(1);
    await change({ active: false });
    const { failingSince } = await get();
    expect(await webhooks.ownEvents()).toMatchObject([{ data: { webhook: { failingSince } } }]);
    expect(failingSince).toBe(at(1_000));
  });

  it('when the service pauses it, with the reason; a successful test resumes it and announces that it has recovered', async () => {
    for (let nth = 0; nth < 11; nth++) {
      await exhaust();
      webhooks.clock.now = startTime + (nth + 1) * 12 * hourMs;
    }
    const { failingSince, disabledReason } = await get();
    expect([failingSince, disabledReason]).toEqual([at(0), 'failing']);
    await sendTest();
    expect((await webhooks.ownEvents()).slice(1)).toMatchObject([
      { event: 'webhook.paused', data: { webhook: { active: false, disabledReason, failingSince } } },
      { event: 'webhook.recovered', data: { webhook: { active: true, failingSince } } },
    ]);
    expect((await webhooks.ownEvents()).at(-1)?.data.webhook).not.toHaveProperty('disabledReason');
    expect(await get()).toMatchObject({ active: true });
  });
});

it('a webhook that the service has paused recovers once, by an attempt that was running, before a test resumes it', async () => {
  for (let nth = 0; nth < 10; nth++) {
    await exhaust();
    webhooks.clock.now = startTime + (nth + 1) * 12 * hourMs;
  }
  const { letGo } = await webhooks.beginAttempt(await nextMessage());
  await exhaust();
  expect(await get()).toMatchObject({ disabledReason: 'failing' });
  await letGo();
  await sendTest();
  expect(await announced()).toEqual(['webhook.failing', 'webhook.paused', 'webhook.recovered']);
  expect(await get()).toMatchObject({ active: true });
});

it('a webhook that a caller resumes can fail again, and recovers once', async () => {
  await fail(3);
  await change({ active: false });
  webhooks.clock.now += hourMs;
  await change({ active: true });
  expect(await get()).not.toHaveProperty('failingSince');
  await fail(3);
  const { failingSince } = await get();
  expect(failingSince).toBe(at(3_000 + hourMs + 1_000));
  await succeed();
  await succeed();
  expect((await webhooks.ownEvents()).slice(2)).toMatchObject([
    { event: 'webhook.failing', data: { webhook: { failingSince } } },
    { event: 'webhook.recovered', data: { webhook: { failingSince } } },
  ]);
});

it('a webhook that a caller resumes before the next success recovers, with the beginning that was announced', async () => {
  await fail(3);
  await change({ active: false });
  webhooks.clock.now += hourMs;
  await change({ active: true });
  await succeed();
  expect((await webhooks.ownEvents()).slice(2)).toMatchObject([
    { event: 'webhook.recovered', data: { webhook: { failingSince: at(1_000) } } },
  ]);
});

describe('after an upgrade', () => {
  /** Removes what earlier versions have not stored. */
  const forget = () =>
    transact(webhooks.table, [
      {
        Update: {
          Key: keys.webhook(webhooks.organization, ulidOf(id)),
          UpdateExpression: 'REMOVE #ownEvents',
          ExpressionAttributeNames: { '#ownEvents': 'ownEvents' },
        },
      },
    ]);

  it('a webhook that failed before is announced by its next failure, with the beginning that is known', async () => {
    await fail(3);
    await forget();
    const checked = { since: at(-2 * dayMs), exhausted: 3, checkedUntil: at(0) };
    await storeFailing(webhooks, webhooks.organization, id, undefined, checked);
    await fail(1);
    await succeed();
    const webhook = { failingSince: at(-2 * dayMs) };
    expect((await webhooks.ownEvents()).slice(1)).toMatchObject([
      { event: 'webhook.failing', data: { webhook } },
      { event: 'webhook.recovered', data: { webhook } },
    ]);
  });

  it('a webhook that the service paused before recovers by a successful test', async () => {
    for (let nth = 0; nth < 11; nth++) {
      await exhaust();
      webhooks.clock.now = startTime + (nth + 1) * 12 * hourMs;
    }
    await forget();
    await sendTest();
    expect((await webhooks.ownEvents()).slice(2)).toMatchObject([
      { event: 'webhook.recovered', data: { webhook: { active: true, failingSince: at(0) } } },
    ]);
  });
});

describe('an event about a webhook', () => {
  const events: NewWebhook['events'] = ['webhook.failing', 'webhook.recovered', 'webhook.paused'];
  const receivers = (messages: readonly DeliveryMessage[]) => messages.map(({ webhookId }) => webhookId);

  it('is sent to subscribed webhooks, but not to that webhook and to none with a filter', async () => {
    await change({ events: ['task.created', ...events] });
    const watcher = await webhooks.register({ events });
    await webhooks.register({ events, taskFilter: { projectId: 'proj_website' } });
    await webhooks.register({ events: ['webhook.paused'] });
    webhooks.clock.now += 1;
    await fail(3);
    expect(receivers(await webhooks.publishOwnEvent())).toEqual([watcher.id]);
    await succeed();
    expect(receivers(await webhooks.publishOwnEvent())).toEqual([watcher.id]);
  });

  it('is published once, whenever its change is read', async () => {
    await webhooks.register({ events });
    webhooks.clock.now += 1;
    await fail(3);
    const [first] = await webhooks.publishOwnEvent();
    webhooks.clock.now += hourMs;
    expect(await webhooks.publishOwnEvent()).toEqual([first]);
  });

  it('is not sent to that webhook by a recovery', async () => {
    await change({ events: ['task.created', ...events] });
    const watcher = await webhooks.register({ events });
    await change({ active: false }, watcher.id);
    webhooks.clock.now += 1_000;
    await change({ active: false });
    await webhooks.publishOwnEvent();
    await change({ active: true }, watcher.id);
    await change({ active: true });
    webhooks.clock.now += hourMs;
    expect((await recover(webhooks, id)).matched).toBe(0);
    expect((await recover(webhooks, watcher.id)).matched).toBe(1);
  });

  it('lets no webhook fail that cannot receive it: two that watch each other have one event each', async () => {
    await change({ events: ['task.created', ...events] });
    await webhooks.register({ events: ['task.created', ...events] });
    webhooks.clock.now += 1;
    const waiting: DeliveryMessage[] = [];
    for (let nth = 0; nth < 3; nth++) waiting.push(...(await webhooks.publish()));
    let published = 0;
    // All attempts of all deliveries fail, also the deliveries of the events about both.
    for (let message = waiting.shift(); message; message = waiting.shift()) {
      webhooks.clock.now = Math.max(webhooks.clock.now, Date.parse(message.dueAt));
      const { sent } = await webhooks.attempt(message, failed);
      waiting.push(...sent.map((one) => one.message));
      for (; published < (await webhooks.ownEvents()).length; published++)
        waiting.push(...(await webhooks.publishOwnEvent()));
    }
    const own = await webhooks.ownEvents();
    expect(namesOf(own)).toEqual(['webhook.failing', 'webhook.failing']);
    expect(new Set(own.map(({ webhookId }) => webhookId)).size).toBe(2);
  });

  it('lets no webhook fail that receives nothing else, however often its deliveries fail', async () => {
    const watcher = await webhooks.register({ events });
    webhooks.clock.now += 1;
    for (let nth = 0; nth < 4; nth++) {
      await change({ active: false });
      const [message] = (await webhooks.publishOwnEvent()) as [DeliveryMessage];
      await webhooks.attemptAll(message, notingSender(failed).send);
      webhooks.clock.now += 1_000;
      await change({ active: true });
    }
    expect(new Set(await announced())).toEqual(new Set(['webhook.paused']));
    const { data: read } = await getWebhook(webhooks, webhooks.organization, watcher.id);
    expect(read).toHaveProperty('lastFailureAt');
    expect(read).not.toHaveProperty('failingSince');
  });

  it('lets a webhook recover that receives it', async () => {
    await change({ events: ['task.created', ...events] });
    await fail(3);
    const other = await webhooks.register({ events: [] as never });
    webhooks.clock.now += 1;
    await change({ active: false }, other.id);
    const [message] = (await webhooks.publishOwnEvent()) as [DeliveryMessage];
    expect(message.webhookId).toBe(id);
    await webhooks.attempt(message);
    expect(await announced()).toEqual(['webhook.failing', 'webhook.paused', 'webhook.recovered']);
  });
});
