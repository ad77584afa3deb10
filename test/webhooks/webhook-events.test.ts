import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { EventName } from '../../lib/contract/webhooks/events.ts';
import {
  type EventOfWebhook,
  maxWebhookEventsRead,
  type WebhookEventQuery,
} from '../../lib/contract/webhooks/webhook-events.ts';
import type { WebhookPatch } from '../../lib/contract/webhooks/webhooks.ts';
import { executionEvents } from '../../lib/executions/execution-events.ts';
import type { DeliveryMessage } from '../../lib/names/messages.ts';
import { sweepDeliveries } from '../../lib/webhooks/deliveries/sweep.ts';
import { redeliverDelivery } from '../../lib/webhooks/redelivery.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';
import { listWebhookEvents } from '../../lib/webhooks/webhook-events.ts';
import { updateWebhook } from '../../lib/webhooks/webhooks.ts';
import { startReceiver } from '../sender/receiver.ts';
import { runningExecution } from '../table/executions/execution-table.ts';
import { meter } from '../table/fixtures/capacity.ts';
import { recover, runToEnd } from './recoveries/test-recoveries.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from './test-webhooks.ts';

const minuteMs = 60_000;
let webhooks: TestWebhooks;
let id: string;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  ({ id } = await webhooks.register());
});

const later = (ms = 1_000) => {
  webhooks.clock.now += ms;
};

const list = (query: Partial<WebhookEventQuery> = {}, webhookId = id) =>
  listWebhookEvents(webhooks, webhooks.organization, webhookId, { limit: 20, ...query });

/** Returns the events of a list, newest first, by what a test compares. */
const shown = async <Field extends keyof EventOfWebhook>(field: Field, query?: Partial<WebhookEventQuery>, of = id) =>
  (await list(query, of)).items.map((event) => event[field]);

const edit = (patch: WebhookPatch) => updateWebhook(webhooks, webhooks.organization, id, patch, () => {});

/** Publishes the event of a new task; a second passes. */
async function publish(event?: Extract<EventName, `task.${string}`>): Promise<{ eventId: string; taskId: string }> {
  const change = webhooks.change(event);
  await webhooks.publish(change);
  later();
  const [newest] = (await listWebhookEvents(webhooks, webhooks.organization, id, { limit: 1 })).items;
  return { eventId: newest?.eventId ?? '', taskId: change.item };
}

/** Publishes an event to the webhook; a second passes. */
async function nextMessage(): Promise<DeliveryMessage> {
  const message = await webhooks.nextMessage();
  later();
  return message;
}

/** Publishes five events with a delivery in each state. Returns them, the newest one last. */
async function publishOfEachState() {
  const exhausted = await nextMessage();
  await webhooks.attemptAll(exhausted, notingSender(failed).send);
  await edit({ active: false });
  later();
  const { eventId: skipped } = await publish();
  await edit({ active: true });
  later();
  const delivered = await nextMessage();
  await webhooks.attempt(delivered);
  const retrying = await nextMessage();
  await webhooks.attempt(retrying, failed);
  const pending = await nextMessage();
  return { exhausted, skipped, delivered, retrying, pending };
}

const states = ['pending', 'retrying', 'delivered', 'skipped', 'exhausted'] as const;

describe('the events of a webhook are listed', () => {
  it('newest first, each once with the state of its delivery, the times of its attempts and the last result', async () => {
    const { exhausted, skipped, delivered, retrying, pending } = await publishOfEachState();
    const { items, next } = await list();
    expect(next).toBeNull();
    expect(items.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['pending', 0],
      ['retrying', 1],
      ['delivered', 1],
      ['skipped', 0],
      ['exhausted', 4],
    ]);
    const common = ({ deliveryId, eventId, dueAt: occurredAt }: DeliveryMessage) => ({
      ...{ eventId, event: 'task.created', occurredAt, deliveryId, taskId: expect.stringMatching(/^tk_/) },
      taskTitle: 'A task',
    });
    const beganAfter = ({ dueAt }: DeliveryMessage, ms: number) => timestamp(Date.parse(dueAt) + ms);
    const only = (message: DeliveryMessage) => {
      const at = beganAfter(message, 1_000);
      return { firstAttemptAt: at, lastAttemptAt: at };
    };
    const nextAttemptAt = expect.any(String);
    expect(items).toEqual([
      { ...common(pending), state: 'pending', attempts: 0, nextAttemptAt: pending.dueAt },
      { ...common(retrying), ...only(retrying), ...failed, state: 'retrying', attempts: 1, nextAttemptAt },
      { ...common(delivered), ...only(delivered), state: 'delivered', attempts: 1, httpStatus: 204 },
      { ...items[3], eventId: skipped, state: 'skipped', attempts: 0 },
      {
        ...{ ...common(exhausted), ...failed, state: 'exhausted', attempts: 4 },
        firstAttemptAt: beganAfter(exhausted, 1_000),
        lastAttemptAt: timestamp(Date.parse(exhausted.dueAt) + 1_000 + 155 * minuteMs),
      },
    ]);
    expect(Object.keys(items[3] ?? {}).sort()).toEqual(
      ['attempts', 'deliveryId', 'event', 'eventId', 'occurredAt', 'state', 'taskId', 'taskTitle'].sort(),
    );
    expect(Date.parse(items[1]?.nextAttemptAt ?? '')).toBeGreaterThan(webhooks.clock());
  });

  it.each(states)('by state: %s', async (state) => {
    await publishOfEachState();
    const all = (await list()).items;
    expect(await list({ state })).toEqual({ items: all.filter((event) => event.state === state), next: null });
  });

  it('by the name of the event, its task and its time', async () => {
    await edit({ events: ['task.created', 'task.completed'] });
    later();
    const [one, other] = [await publish(), await publish('task.completed')];
    expect(await shown('eventId', { event: 'task.completed' })).toEqual([other.eventId]);
    expect(await shown('eventId', { task_id: one.taskId })).toEqual([one.eventId]);
    const [, { occurredAt = '' } = {}] = (await list()).items;
    expect(await shown('eventId', { until: Date.parse(occurredAt) })).toEqual([one.eventId]);
    expect(await shown('eventId', { since: Date.parse(occurredAt) + 1 })).toEqual([other.eventId]);
  });

  it('with the execution of an agent event, its agent and its task', async () => {
    await edit({ events: ['agent.spawned'] });
    later();
    const { organization, clock, ulid } = webhooks;
    const [taskId, executionId] = [`tk_${ulid()}`, `ex_${ulid()}`];
    for (const [item, fields] of [
      [executionId, { taskId }],
      [`ex_${ulid()}`, {}],
    ] as const) {
      const execution = runningExecution({ organization, id: item, startedAt: timestamp(clock()), ...fields });
      await webhooks.publish({ organization, item, version: 1, events: executionEvents(undefined, execution) });
    }
    expect(await shown('taskId')).toContain(taskId);
    expect(await list({ task_id: taskId })).toMatchObject({ items: [{ executionId, agentName: 'writer', taskId }] });
    expect((await list()).items.filter((event) => event.taskId === undefined)).toHaveLength(1);
  });

  it('with the hint that a receiver has refused an unsigned attempt', async () => {
    await webhooks.attempt(await nextMessage(), { httpStatus: 401, error: 'The receiver answered 401.' });
    expect(await shown('hint')).toEqual(['unsigned']);
    await webhooks.attempt(await nextMessage(), failed);
    expect(await shown('hint')).toEqual([undefined, 'unsigned']);
  });

  it('in pages that together have all events once, whatever the limit', async () => {
    await publishOfEachState();
    const all = (await list()).items;
    for (const limit of [1, 2, 3, 4, 5]) {
      const found: EventOfWebhook[] = [];
      let pages = 0;
      for (let before: string | null | undefined; before !== null; ) {
        const page = await list({ limit, before });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...page.items);
        before = page.next;
        pages += 1;
      }
      expect(found).toEqual(all);
      expect(pages).toBe(Math.ceil(all.length / limit));
    }
  });
});

describe('the attempts of an event include', () => {
  it('redeliveries, one of which makes the delivery pending', async () => {
    const message = await nextMessage();
    await webhooks.attemptAll(message, notingSender(failed).send);
    await redeliverDelivery(webhooks, webhooks.organization, message, undefined);
    expect((await list()).items).toMatchObject([{ state: 'pending', attempts: 4, nextAttemptAt: expect.any(String) }]);
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    for (const { message: next } of webhooks.queue.sent.slice(before)) await webhooks.attempt(next);
    const [event] = (await list()).items;
    expect(event).toMatchObject({ state: 'delivered', attempts: 5, httpStatus: 204 });
    expect(event).not.toHaveProperty('error');
    expect(event).not.toHaveProperty('nextAttemptAt');
  });

  it('those of a recovery, which also sends events from before the registration', async () => {
    await nextMessage();
    const { id: late } = await webhooks.register();
    expect(await shown('state', {}, late)).toEqual([]);
    const { recoveryId } = await recover(webhooks, late, { include: ['never_sent'] });
    await runToEnd(webhooks, late, recoveryId);
    expect((await list({}, late)).items).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });
});

describe('a webhook has no event', () => {
  it('to which it was not subscribed, or that its filter left out', async () => {
    await publish('task.completed');
    const filtered = await webhooks.register({ taskFilter: { projectId: 'proj_website' } });
    await nextMessage();
    expect(await shown('event')).toEqual(['task.created']);
    expect(await shown('event', {}, filtered.id)).toEqual([]);
  });

  it('of a test', async () => {
    const { url } = await startReceiver();
    await edit({ url });
    await testWebhook(webhooks, webhooks.organization, { webhookId: id, event: 'task.created' }, undefined);
    expect(await webhooks.history(id)).toHaveLength(1);
    expect(await list()).toEqual({ items: [], next: null });
  });

  it('of another organization', async () => {
    await nextMessage();
    const other = `${webhooks.organization}-2` as Organization;
    await expect(listWebhookEvents(webhooks, other, id, { limit: 20 })).rejects.toMatchObject({ status: 404 });
  });
});

describe('in a log with many events that a webhook does not receive', () => {
  const events = maxWebhookEventsRead + 100;

  it('a request reads 2,000 of them in 100 requests at most, and continues at next', async () => {
    const message = await nextMessage();
    await Promise.all(
      Array.from({ length: events }, (_, nth) => {
        const { organization, ulid } = webhooks;
        const item = `tk_${ulid()}`;
        const data = {
          task: { id: item, title: 'A task', status: 'done' as const },
          occurredAt: timestamp(startTime + 1_000 + nth),
        };
        return webhooks.publish({ organization, item, version: 2, events: [{ event: 'task.completed', data }] });
      }),
    );
    const { costOf } = meter(webhooks.table);
    let page = await list();
    const cost = await costOf(async () => {
      page = await list();
    });
    expect(page).toEqual({ items: [], next: expect.stringMatching(/^ev_/) });
    expect(cost.requests).toBeLessThanOrEqual(100);
    expect(cost.rounds).toBeLessThanOrEqual(50);
    expect(cost.rcu).toBeLessThanOrEqual(250);
    expect(await list({ before: page.next ?? '' })).toMatchObject({
      items: [{ deliveryId: message.deliveryId }],
      next: null,
    });
  });
});
