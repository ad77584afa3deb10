import { afterEach, describe, expect, it, vi } from 'vitest';
import { handler as deliverWebhook } from '../../../functions/pipeline/deliver-webhook.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { app } from '../../../lib/app.ts';
import type { EventName } from '../../../lib/contract/events.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { openAttemptLog } from '../../../lib/table/attempt-log.ts';
import { deliveryPartitions } from '../../../lib/table/delivery-partitions.ts';
import { graceMs, readDue } from '../../../lib/table/due.ts';
import { type LoggedEvent, openEventLog } from '../../../lib/table/event-log.ts';
import { openSubscriptions } from '../../../lib/table/subscriptions.ts';
import { firstAttempts } from '../../../lib/webhooks/first-attempts.ts';
import { sentForm } from '../../../lib/webhooks/wake-ups.ts';
import { queueEvent } from '../../queue-event.ts';
import { startReceiver } from '../../webhooks/receiver.ts';
import { allTime, runJob } from './jobs.ts';
import { messageOf, openPipeline } from './pipeline.ts';

const { service, organization, register, receive } = await openPipeline();
const { id: webhookId } = await register();
const log = openAttemptLog(service.table);

afterEach(() => vi.restoreAllMocks());

/** Puts a failed first attempt whose retry has been due for so long. */
async function put(milliseconds: number): Promise<string> {
  const nextAttemptAt = timestamp(app().clock() - milliseconds);
  // An id that ends in 0, for which one partition of the index is as good as another.
  const deliveryId = `dlv_${app().ulid().slice(0, -1)}0`;
  const record = {
    event: 'task.created',
    httpStatus: 500,
    durationMs: 1,
    error: 'The receiver answered 500.',
  } as const;
  await log.put({
    place: { organization, webhookId, deliveryId, attempt: 1, at: nextAttemptAt },
    record: { ...record, id: deliveryId, deliveryId, attempt: 1, deliveredAt: nextAttemptAt, redelivery: false },
    eventId: `ev_${app().ulid()}`,
    retry: { nextAttemptAt, dueAt: timestamp(Date.parse(nextAttemptAt) + graceMs) },
  });
  return deliveryId;
}

/** An event of now that the sweeper looks at: its id ends in 0. */
function sampled(event: EventName): LoggedEvent {
  const data = JSON.stringify({ task: {}, occurredAt: timestamp(app().clock()) });
  return { organization, id: `ev_${app().ulid().slice(0, -1)}0`, event, item: `tk_${app().ulid()}`, version: 1, data };
}

const woken = async () => (await receive('firstRetry')).map((body) => messageOf(body).deliveryId);

describe('sweep-overdue', () => {
  it('sends the message of a retry that waits too long again, once, and says how many in the log', async () => {
    const info = vi.spyOn(app().log, 'info').mockImplementation(() => {});
    const [overdue] = [await put(2 * graceMs), await put(0)];
    await runJob('deliveries');
    expect(await woken()).toEqual([overdue]);
    await runJob('deliveries');
    expect(await woken()).toEqual([]);
    expect(info.mock.calls).toEqual([
      [
        'scheduled',
        { job: 'deliveries', woken: 1, unfinished: false, DeliveriesLate: expect.any(Number), SlowDeliveriesLate: 0 },
      ],
      ['scheduled', { job: 'deliveries', woken: 0, unfinished: false, DeliveriesLate: 0, SlowDeliveriesLate: 0 }],
    ]);
  });

  it('sends those of all retries that wait when it is called for all time to come', async () => {
    const ids = [await put(0), await put(0)];
    await runJob('deliveries', allTime);
    expect(await woken()).toEqual(expect.arrayContaining(ids));
  });

  it('has an event on its list until each webhook that hears it has been sent it', async () => {
    const receiver = await startReceiver();
    const { id } = await register(receiver.url, ['task.completed']);
    const event = sampled('task.completed');
    await openEventLog(service.table).append(event);
    const listed = async () => (await Array.fromAsync(readDue(service, deliveryPartitions, allTime))).length;
    const before = await listed();
    await runJob('deliveries', allTime);
    expect(await listed()).toBe(before);
    const [message] = await firstAttempts(event, openSubscriptions(service.table));
    await deliverWebhook(queueEvent([JSON.stringify(message && sentForm(message))]), contextOf('deliverWebhook', 30));
    await runJob('deliveries', allTime);
    expect(await listed()).toBe(before - 1);
    expect(message?.webhookId).toBe(id);
  });
});
