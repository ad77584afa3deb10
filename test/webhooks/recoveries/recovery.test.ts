import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { TaskEvent } from '../../../lib/contract/webhooks/events.ts';
import type { MissedKind } from '../../../lib/contract/webhooks/recoveries.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { type Key, keys } from '../../../lib/table/access/keys.ts';
import { attemptKey } from '../../../lib/table/deliveries/attempt-items.ts';
import { markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { getEvent } from '../../../lib/webhooks/events.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';
import { exhaust, exhaustAll, progressOf, recover, runToEnd, sweep } from './test-recoveries.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
let webhooks: TestWebhooks;
let id: string;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  ({ id } = await webhooks.register());
});

/** Stores pauses of the webhook. */
async function pause(...pauses: { from: string; until?: string }[]) {
  const { table, organization } = webhooks;
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: keys.webhook(organization, ulidOf(id)),
      UpdateExpression: 'SET pauses = :pauses',
      ExpressionAttributeValues: { ':pauses': pauses },
    }),
  );
}

const attemptsOf = async (webhookId = id) =>
  (await webhooks.history(webhookId)).map(({ deliveryId, attempt, error }) => [deliveryId, attempt, error]);

describe('a recovery sends', () => {
  it('each event whose attempts all failed once, oldest first, as the next attempt of its delivery', async () => {
    const missed = await exhaustAll(webhooks, 3);
    await webhooks.attempt(await webhooks.nextMessage());
    const { matched, recoveryId } = await recover(webhooks, id);
    expect(matched).toBe(3);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ id: recoveryId, status: 'running', sent: 0 });
    const made = await runToEnd(webhooks, id, recoveryId);
    expect(made).toMatchObject(missed.map(({ deliveryId }) => ({ deliveryId, attempt: 5 })));
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({
      ...{ status: 'completed', matched: 3, sent: 3, delivered: 3, failed: 0 },
    });
    expect((await recover(webhooks, id)).matched).toBe(0);
  });

  it('events from before the registration of the webhook, and those from before its subscription', async () => {
    const first = webhooks.change();
    await webhooks.publish(first);
    await webhooks.publish(webhooks.change('task.completed'));
    webhooks.clock.now += minuteMs;
    const late = await webhooks.register();
    const { matched, recoveryId } = await recover(webhooks, late.id, { include: ['never_sent'] });
    expect(matched).toBe(1);
    const made = await runToEnd(webhooks, late.id, recoveryId);
    expect(made).toMatchObject([{ attempt: 1 }]);
    expect(await attemptsOf(late.id)).toEqual([[made[0]?.deliveryId, 1, undefined]]);

    const events = ['task.created', 'task.completed'] as const;
    await updateWebhook(webhooks, webhooks.organization, late.id, { events: [...events] }, () => {});
    const next = await recover(webhooks, late.id, { include: ['never_sent'] });
    expect(next.matched).toBe(1);
    expect(await runToEnd(webhooks, late.id, next.recoveryId)).toMatchObject([{ attempt: 1 }]);
  });

  it('events of a pause', async () => {
    const during = await webhooks.nextMessage();
    await pause({ from: timestamp(webhooks.clock()), until: timestamp(webhooks.clock() + minuteMs) });
    webhooks.clock.now += 2 * minuteMs;
    expect((await recover(webhooks, id, { include: ['exhausted', 'never_sent'], dryRun: true })).matched).toBe(0);
    const { matched, recoveryId } = await recover(webhooks, id, { include: ['skipped'] });
    expect(matched).toBe(1);
    expect(await runToEnd(webhooks, id, recoveryId)).toMatchObject([{ deliveryId: during.deliveryId, attempt: 1 }]);
  });

  it('events of a pause that the filter of their time matches, and earlier ones that the current filter matches', async () => {
    const { organization, clock } = webhooks;
    const of = (projectId: string) => {
      const change = webhooks.change();
      const [event] = change.events as [TaskEvent];
      const task = { ...event.data.task, projectId };
      return { ...change, events: [{ ...event, data: { ...event.data, task } } as TaskEvent] };
    };
    const publishBoth = async () => {
      for (const projectId of ['proj_a', 'proj_b']) await webhooks.publish(of(projectId));
      clock.now += minuteMs;
    };
    const projectsOf = async (webhookId: string) => {
      const ids = new Set((await webhooks.history(webhookId)).map(({ deliveryId }) => deliveryId));
      const details = [...ids].map((deliveryId) => getDelivery(webhooks, organization, { webhookId, deliveryId }));
      return (await Promise.all(details)).map(({ body }) => JSON.parse(body as string).data.task.projectId);
    };
    await publishBoth();
    const patch = (webhookId: string, body: WebhookPatch) =>
      updateWebhook(webhooks, organization, webhookId, body, () => {});
    const late = await webhooks.register();
    await patch(late.id, { taskFilter: { projectId: 'proj_a' } });
    await patch(late.id, { active: false });
    await publishBoth();
    await patch(late.id, { active: true, taskFilter: { projectId: 'proj_b' } });
    const { matched, recoveryId } = await recover(webhooks, late.id);
    expect(matched).toBe(2);
    await runToEnd(webhooks, late.id, recoveryId);
    // The newest first: the event of the pause, and the one from before the registration.
    expect(await projectsOf(late.id)).toEqual(['proj_a', 'proj_b']);
  });

  it('events whose attempts were late, and redelivered ones, once each', async () => {
    const late = await webhooks.nextMessage();
    for (let next: DeliveryMessage | undefined = late; next; ) {
      // Each attempt begins five minutes after it was due.
      webhooks.clock.now = Date.parse(next.dueAt) + 5 * minuteMs;
      const { sent } = await webhooks.attempt(next, failed);
      next = sent[0]?.message;
    }
    const redelivered = await exhaust(webhooks);
    await redeliverDelivery(webhooks, webhooks.organization, redelivered, undefined);
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    await webhooks.attempt(webhooks.queue.sent.at(-1)?.message as DeliveryMessage, failed);
    const { matched, recoveryId } = await recover(webhooks, id);
    expect(matched).toBe(2);
    expect(await runToEnd(webhooks, id, recoveryId)).toMatchObject([
      { deliveryId: late.deliveryId, attempt: 5 },
      { deliveryId: redelivered.deliveryId, attempt: 6 },
    ]);
  });

  it('only the events of its range, its names and its kinds', async () => {
    const { clock } = webhooks;
    const at: number[] = [];
    for (let number = 0; number < 3; number++) {
      at.push(clock());
      await exhaust(webhooks);
      clock.now += minuteMs;
    }
    const matchedBy = async (body: Parameters<typeof recover>[2]) =>
      (await recover(webhooks, id, { ...body, dryRun: true })).matched;
    expect(await matchedBy({})).toBe(3);
    expect(await matchedBy({ since: at[1] as number })).toBe(2);
    expect(await matchedBy({ since: (at[0] as number) + 1, until: at[1] as number })).toBe(1);
    expect(await matchedBy({ events: ['task.completed'] })).toBe(0);
    expect(await matchedBy({ events: ['task.created'] })).toBe(3);
    expect(await matchedBy({ include: ['never_sent', 'skipped'] })).toBe(0);
  });

  it('no event with an attempt that is due: the first one, a retry or a redelivery', async () => {
    const first = await webhooks.nextMessage();
    await webhooks.retry(await webhooks.nextMessage());
    expect(await recover(webhooks, id, { dryRun: true })).toMatchObject({ matched: 0, leftOut: { inProgress: 2 } });
    await webhooks.attempt(first);
    const { deliveryId } = await exhaust(webhooks);
    expect((await recover(webhooks, id, { dryRun: true })).matched).toBe(1);
    await redeliverDelivery(webhooks, webhooks.organization, { webhookId: id, deliveryId }, undefined);
    expect((await recover(webhooks, id, { dryRun: true })).matched).toBe(0);
  });

  it('events whose first messages are lost, two minutes after they were due, each once although its message arrives', async () => {
    const messages: DeliveryMessage[] = [];
    for (let nth = 0; nth < 25; nth++) messages.push(await webhooks.nextMessage());
    const matchedBy = async (include: MissedKind[]) => (await recover(webhooks, id, { include, dryRun: true })).matched;
    webhooks.clock.now += 2 * minuteMs - 1;
    expect(await matchedBy(['never_sent'])).toBe(0);
    webhooks.clock.now += 1;
    expect(await matchedBy(['exhausted', 'skipped'])).toBe(0);
    const { matched, recoveryId } = await recover(webhooks, id, { include: ['never_sent'] });
    expect(matched).toBe(25);
    expect(await matchedBy(['never_sent'])).toBe(25);
    // One arrives before the recovery stores its attempts, and one after that.
    expect((await webhooks.attempt(messages[0] as DeliveryMessage)).posts).toBe(1);
    const sent = await sweep(webhooks);
    expect(await matchedBy(['never_sent'])).toBe(0);
    expect((await webhooks.attempt(messages[1] as DeliveryMessage)).posts).toBe(1);
    const perSecond = Map.groupBy(sent, ({ at }) => at);
    expect(sent).toHaveLength(24);
    expect(Math.max(...[...perSecond.values()].map((some) => some.length))).toBe(10);
    const { posts, send } = notingSender();
    for (const { message, at } of sent) {
      webhooks.clock.now = Math.max(webhooks.clock(), at);
      await webhooks.deliver(message, send);
    }
    expect(posts).toHaveLength(23);
    for (const message of messages) expect((await webhooks.attempt(message)).posts).toBe(0);
    webhooks.clock.now += minuteMs;
    expect(await runToEnd(webhooks, id, recoveryId)).toEqual([]);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ status: 'completed', sent: 24, delivered: 24 });
    expect(await attemptsOf()).toHaveLength(25);
  });

  it('events whose first messages are lost again, if the messages of the recovery are lost too', async () => {
    await webhooks.nextMessage();
    webhooks.clock.now += 2 * minuteMs;
    const { recoveryId } = await recover(webhooks, id);
    const [lost] = await sweep(webhooks);
    webhooks.clock.now = (lost?.at as number) + minuteMs;
    expect(await runToEnd(webhooks, id, recoveryId)).toMatchObject([{ attempt: 1 }]);
    expect(await attemptsOf()).toHaveLength(1);
  });

  it('no event whose first attempt a caller has requested again', async () => {
    const message = await webhooks.nextMessage();
    webhooks.clock.now += 2 * minuteMs;
    await redeliverDelivery(webhooks, webhooks.organization, message, undefined);
    await webhooks.nextMessage();
    webhooks.clock.now += 2 * minuteMs;
    expect((await recover(webhooks, id, { dryRun: true })).matched).toBe(1);
    await markWebhookSlow(webhooks, webhooks.organization, id);
    expect((await recover(webhooks, id, { dryRun: true })).matched).toBe(1);
  });

  it('no event that was delivered and whose redelivery failed', async () => {
    const message = await webhooks.nextMessage();
    await webhooks.attempt(message);
    await redeliverDelivery(webhooks, webhooks.organization, message, undefined);
    const [redelivery] = await sweep(webhooks);
    await webhooks.attempt(redelivery?.message as DeliveryMessage, failed);
    expect((await recover(webhooks, id, { dryRun: true })).matched).toBe(0);
  });

  it('no event that was delivered after the request', async () => {
    const [first, second] = (await exhaustAll(webhooks, 2)) as [DeliveryMessage, DeliveryMessage];
    const { matched, recoveryId } = await recover(webhooks, id);
    await redeliverDelivery(webhooks, webhooks.organization, first, undefined);
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    await webhooks.attempt(webhooks.queue.sent.at(-1)?.message as DeliveryMessage);
    expect(await runToEnd(webhooks, id, recoveryId)).toMatchObject([{ deliveryId: second.deliveryId }]);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ matched, sent: 1, delivered: 1 });
  });
});

describe.each(['never_sent', 'skipped'] as const)(
  'the first attempt of a %s event that a recovery sends late',
  (kind) => {
    let webhookId: string;
    let deliveryId: string;
    let eventId: string;

    // The attempt begins two minutes after it was due, and fails; its retry is delivered.
    beforeEach(async () => {
      const change = webhooks.change('task.created');
      await webhooks.publish(change);
      webhookId = id;
      if (kind === 'never_sent') {
        webhooks.clock.now += minuteMs;
        ({ id: webhookId } = await webhooks.register());
      } else await pause({ from: timestamp(webhooks.clock()), until: timestamp(webhooks.clock() + minuteMs) });
      webhooks.clock.now += 2 * minuteMs;
      await recover(webhooks, webhookId, { include: [kind] });
      const [sent] = await sweep(webhooks);
      const message = sent?.message as DeliveryMessage;
      webhooks.clock.now = Date.parse(message.dueAt) + 2 * minuteMs;
      const retry = await webhooks.attempt(message, { ...failed, responseBody: 'down' });
      webhooks.clock.now += 5 * minuteMs;
      await webhooks.attempt(retry.sent[0]?.message as DeliveryMessage);
      ({ deliveryId, eventId = '' } = message);
    });

    const readAttempts = async () => {
      const { attempts, state } = await getDelivery(webhooks, webhooks.organization, { webhookId, deliveryId });
      return [attempts.map(({ attempt, responseBody }) => [attempt, responseBody]), state];
    };

    it('is there once: in its delivery, in its event, in the history, and for further recoveries', async () => {
      const both = [
        [1, 'down'],
        [2, ''],
      ];
      expect(await readAttempts()).toEqual([both, 'delivered']);
      const { deliveries } = await getEvent(webhooks, webhooks.organization, eventId);
      expect(deliveries).toContainEqual({ webhookId, deliveryId, state: 'delivered', attempts: 2 });
      expect(await attemptsOf(webhookId)).toHaveLength(2);
      expect((await recover(webhooks, webhookId, { dryRun: true })).matched).toBe(0);
    });

    it('can be read, also from a table in which it was made twice', async () => {
      const rows = Object.values(await webhooks.dump()) as (Key & { attempt: number })[];
      const row = rows.find(({ sk, attempt }) => sk.startsWith('A#') && attempt === 1) as Key;
      const item = rows.find(({ sk }) => sk.startsWith('R#')) as unknown as { nextAttemptAt: string };
      const place = { organization: webhooks.organization, webhookId, deliveryId, attempt: 1, at: item.nextAttemptAt };
      const copy = new PutCommand({ TableName: webhooks.table.name, Item: { ...row, ...attemptKey(place) } });
      await webhooks.table.client.send(copy);
      expect((await attemptsOf(webhookId)).map(([, attempt]) => attempt).toSorted()).toEqual([1, 1, 2]);
      expect(await readAttempts()).toMatchObject([expect.arrayContaining([[2, '']]), 'delivered']);
    });
  },
);
describe('a recovery up to the present sends', () => {
  const requestedAt = () => webhooks.clock();

  /** Publishes an event, registers a webhook after it, and requests the recovery of both. */
  async function recoverBeforeRegistration() {
    await webhooks.publish();
    webhooks.clock.now += minuteMs;
    const [first, second] = [webhooks.change(), webhooks.change()];
    webhooks.clock.now += 1;
    const late = await webhooks.register();
    const { matched, recoveryId } = await recover(webhooks, late.id, { include: ['never_sent'], until: requestedAt() });
    expect(matched).toBe(1);
    return { changes: [first, second], webhookId: late.id, recoveryId };
  }

  it('an event that reaches the log in time, after a sweep that was there before', async () => {
    const { changes, webhookId, recoveryId } = await recoverBeforeRegistration();
    expect(await sweep(webhooks)).toHaveLength(1);
    await webhooks.publish(changes[0]);
    webhooks.clock.now += minuteMs;
    await runToEnd(webhooks, webhookId, recoveryId);
    expect(await progressOf(webhooks, webhookId, recoveryId)).toMatchObject({ status: 'completed', sent: 2 });
  });

  it('events that reach the log late, while it runs, once each', async () => {
    const { changes, webhookId, recoveryId } = await recoverBeforeRegistration();
    webhooks.clock.now += minuteMs;
    const [first] = await sweep(webhooks);
    await webhooks.attempt(first?.message as DeliveryMessage);
    webhooks.clock.now += 1_000;
    for (const change of changes) await webhooks.publish(change);
    webhooks.clock.now += 2 * minuteMs;
    const sent = await sweep(webhooks);
    expect(new Set(sent.map(({ message }) => message.deliveryId)).size).toBe(2);
    webhooks.clock.now += 10_000;
    for (const { message } of sent) await webhooks.attempt(message);
    await runToEnd(webhooks, webhookId, recoveryId);
    expect(new Set((await attemptsOf(webhookId)).map(([deliveryId]) => deliveryId)).size).toBe(3);
    expect(await attemptsOf(webhookId)).toHaveLength(3);
  });

  it.each([
    ['ends after its first step', 2, {}],
    ['has time', Number.POSITIVE_INFINITY, { maxPerSecond: 1 }],
  ])('a hundred late events in several sweeps, if each %s', async (_, timesInTime, fields) => {
    // A sweep continues the recoveries of all organizations of a table.
    webhooks = (await prepareTestWebhooks())();
    await webhooks.publish();
    const changes = Array.from({ length: 100 }, () => webhooks.change());
    webhooks.clock.now += 1;
    const { id: webhookId } = await webhooks.register(fields);
    const { recoveryId } = await recover(webhooks, webhookId, { include: ['never_sent'] });
    webhooks.clock.now += minuteMs;
    const sweepOnce = async (timesWithTime: number) => {
      const before = webhooks.queue.sent.length;
      let times = 0;
      await sweepRecoveries(webhooks, { until: webhooks.clock(), hasTime: () => ++times <= timesWithTime });
      webhooks.clock.now += minuteMs;
      return webhooks.queue.sent.slice(before).map(({ message }) => message);
    };
    const [first] = await sweepOnce(Number.POSITIVE_INFINITY);
    webhooks.clock.now += minuteMs / 2;
    await webhooks.attempt(first as DeliveryMessage);
    for (const change of changes) await webhooks.publish(change);
    webhooks.clock.now += 1_000;
    const sent: DeliveryMessage[][] = [];
    for (let sweeps = 0; sweeps < 20; sweeps++) sent.push(await sweepOnce(timesInTime));
    expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(75);
    expect(sent.flat()).toHaveLength(100);
    expect(new Set(sent.flat().map(({ deliveryId }) => deliveryId)).size).toBe(100);
    expect(await progressOf(webhooks, webhookId, recoveryId)).toMatchObject({ status: 'completed', delivered: 1 });
  });
});

describe('a failed attempt of a recovery', () => {
  it('has the retry schedule, and can be recovered again after the last retry', async () => {
    const { deliveryId } = await exhaust(webhooks);
    const { recoveryId } = await recover(webhooks, id);
    const [sent] = await sweep(webhooks);
    const before = webhooks.queue.sent.length;
    await webhooks.attemptAll(sent?.message as DeliveryMessage, notingSender(failed).send);
    const retries = webhooks.queue.sent.slice(before).map(({ to, message }) => [to, message.attempt]);
    expect(retries).toEqual([
      ['firstRetry', 6],
      ['secondRetry', 7],
      ['thirdRetry', 8],
    ]);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ status: 'running' });
    expect(await runToEnd(webhooks, id, recoveryId)).toEqual([]);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ sent: 1, delivered: 0, failed: 1 });
    const again = await recover(webhooks, id);
    expect(again.matched).toBe(1);
    expect(await runToEnd(webhooks, id, again.recoveryId)).toMatchObject([{ deliveryId, attempt: 9 }]);
  });

  it('has its retry sent by the sweeper if the message is lost', async () => {
    await exhaust(webhooks);
    await recover(webhooks, id);
    const [sent] = await sweep(webhooks);
    webhooks.clock.now += 10_000;
    await webhooks.attempt(sent?.message as DeliveryMessage, failed);
    webhooks.clock.now += 7 * minuteMs;
    const retries = await sweep(webhooks);
    expect(retries).toMatchObject([{ to: 'firstRetry', message: { attempt: 6, scheduleStart: 5 } }]);
  });
});

it('a receiver gets 10 events a second from a recovery, without a gap between the sweeps', async () => {
  const number = 1_300;
  const publish = () => webhooks.publish(webhooks.change('task.completed'));
  // All at once, the last request to another engine would wait for longer than its time.
  for (let nth = 0; nth < number; nth += 100) await Promise.all(Array.from({ length: 100 }, publish));
  webhooks.clock.now += minuteMs;
  const late = await webhooks.register({ events: ['task.completed'] });
  const { matched, recoveryId } = await recover(webhooks, late.id);
  expect(matched).toBe(number);
  const made = await runToEnd(webhooks, late.id, recoveryId);
  expect(new Set(made.map(({ deliveryId }) => deliveryId)).size).toBe(number);
  expect(made).toHaveLength(number);
  const perSecond = [...Map.groupBy(made, ({ at }) => at).values()].map((some) => some.length);
  expect(Math.max(...perSecond)).toBe(10);
  const [first, last] = [made[0]?.at as number, made.at(-1)?.at as number];
  // The first event is sent at once, the others in whole seconds.
  expect(last - first).toBe((number / 10) * 1_000);
});

describe('a recovery', () => {
  it('waits while the webhook is paused', async () => {
    await exhaust(webhooks);
    const { recoveryId } = await recover(webhooks, id);
    await pause({ from: timestamp(webhooks.clock()) });
    expect(await sweep(webhooks)).toEqual([]);
    webhooks.clock.now += 5 * minuteMs;
    expect(await sweep(webhooks)).toEqual([]);
    await pause({ from: timestamp(webhooks.clock()), until: timestamp(webhooks.clock() + 1) });
    webhooks.clock.now += 5 * minuteMs;
    expect(await runToEnd(webhooks, id, recoveryId)).toHaveLength(1);
  });

  it('of a deleted webhook ends, and nothing remains of it', async () => {
    await exhaust(webhooks);
    const { recoveryId } = await recover(webhooks, id);
    await deleteWebhook(webhooks, webhooks.organization, id, () => {});
    await expect(progressOf(webhooks, id, recoveryId)).rejects.toMatchObject({ code: 'not_found' });
    expect(await sweep(webhooks)).toEqual([]);
    const items = Object.keys(await webhooks.dump()).filter((key) => key.includes('#WR#'));
    expect(items).toEqual([]);
  });

  it('is the only one of its webhook; of several requests at the same time one succeeds', async () => {
    await exhaust(webhooks);
    const requests = await Promise.allSettled(Array.from({ length: 5 }, () => recover(webhooks, id)));
    const rejected = requests.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(rejected).toEqual(Array(4).fill('recovery_in_progress'));
    expect(await sweep(webhooks)).toHaveLength(1);
  });

  it('takes over the lock of a recovery that has expired', async () => {
    await exhaust(webhooks);
    const { recoveryId } = await recover(webhooks, id);
    await expect(recover(webhooks, id)).rejects.toMatchObject({ code: 'recovery_in_progress' });
    const { table, organization } = webhooks;
    const Key = keys.recovery(organization, ulidOf(id), ulidOf(recoveryId as string));
    await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
    const requests = await Promise.allSettled([recover(webhooks, id), recover(webhooks, id)]);
    expect(requests.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const next = requests.find((one) => one.status === 'fulfilled')?.value;
    expect(await runToEnd(webhooks, id, next?.recoveryId)).toHaveLength(1);
  });

  it('without events is not stored', async () => {
    const before = await webhooks.dump();
    const none = { exhausted: 0, skipped: 0, retrying: 0, never_sent: 0 };
    expect(await recover(webhooks, id)).toEqual({
      matched: 0,
      matchedByKind: none,
      leftOut: { delivered: 0, inProgress: 0, notIncluded: 0, notSubscribed: 0, filtered: 0 },
    });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('sends lost messages again within five minutes after a step back of an hour', async () => {
    await exhaustAll(webhooks, 2);
    webhooks.clock.now += hourMs;
    const { recoveryId } = await recover(webhooks, id);
    const lost = await sweep(webhooks);
    webhooks.clock.now += 3 * minuteMs;
    await sweep(webhooks);
    webhooks.clock.now -= hourMs;
    const again = await sweep(webhooks, Date.parse('9999-12-31T23:59:59.999Z'));
    const events = (sent: typeof lost) => new Set(sent.map(({ message }) => message.eventId));
    expect(events(again)).toEqual(events(lost));
    expect(Math.max(...again.map(({ at }) => at))).toBeLessThanOrEqual(webhooks.clock() + 5 * minuteMs);
    webhooks.clock.now += 5 * minuteMs;
    for (const { message } of [...again, ...lost]) await webhooks.attempt(message, {}, webhooks.createContainer());
    expect(await attemptsOf()).toHaveLength(10);
    expect(await runToEnd(webhooks, id, recoveryId)).toEqual([]);
  });

  it('sends lost messages again, and the receiver gets each event once', async () => {
    await exhaustAll(webhooks, 2);
    const { recoveryId } = await recover(webhooks, id);
    const lost = await sweep(webhooks);
    webhooks.clock.now += 3 * minuteMs;
    const again = await sweep(webhooks);
    expect(again.map(({ message }) => message)).toEqual(lost.map(({ message }) => message));
    webhooks.clock.now += minuteMs;
    for (const { message } of [...again, ...lost]) await webhooks.attempt(message, {}, webhooks.createContainer());
    expect(await attemptsOf()).toHaveLength(10);
    expect(await runToEnd(webhooks, id, recoveryId)).toEqual([]);
  });
});
