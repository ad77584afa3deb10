import { afterEach, describe, expect, it, vi } from 'vitest';
import { handler as deliverWebhook } from '../../../functions/pipeline/deliver-webhook.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import type { EventName } from '../../../lib/contract/events.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { insertAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import { deliveryPartitions } from '../../../lib/table/deliveries/delivery-partitions.ts';
import { appendEvent, type LoggedEvent } from '../../../lib/table/deliveries/event-log.ts';
import { graceMs, readDue } from '../../../lib/table/lists/due.ts';
import { sentForm } from '../../../lib/webhooks/deliveries/attempt-messages.ts';
import { readFirstAttempts } from '../../../lib/webhooks/deliveries/first-attempts.ts';
import { queueEvent } from '../../queue-event.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { allTime, runJob } from './jobs.ts';
import { messageOf, openPipeline } from './pipeline.ts';

const { service, organization, register, receive } = await openPipeline();
const { id: webhookId } = await register();

afterEach(() => vi.restoreAllMocks());

/** Inserts a failed first attempt whose retry was due some milliseconds ago. */
async function put(milliseconds: number): Promise<string> {
  const nextAttemptAt = timestamp(processContext().clock() - milliseconds);
  // Any partition of the index will do; this id is always in the same one.
  const deliveryId = `dlv_${processContext().ulid().slice(0, -1)}0`;
  const record = {
    event: 'task.created',
    httpStatus: 500,
    durationMs: 1,
    error: 'The receiver answered 500.',
  } as const;
  await insertAttempt(processContext(), {
    place: { organization, webhookId, deliveryId, attempt: 1, at: nextAttemptAt },
    record: { ...record, id: deliveryId, deliveryId, attempt: 1, deliveredAt: nextAttemptAt, redelivery: false },
    eventId: `ev_${processContext().ulid()}`,
    retry: { nextAttemptAt, dueAt: timestamp(Date.parse(nextAttemptAt) + graceMs) },
  });
  return deliveryId;
}

/** Returns a current event that the sweeper checks: its id ends in 0. */
function sampled(event: EventName): LoggedEvent {
  const data = JSON.stringify({ task: {}, occurredAt: timestamp(processContext().clock()) });
  return {
    organization,
    id: `ev_${processContext().ulid().slice(0, -1)}0`,
    event,
    item: `tk_${processContext().ulid()}`,
    version: 1,
    data,
  };
}

const sentAgain = async () => (await receive('firstRetry')).map((body) => messageOf(body).deliveryId);

describe('sweep-overdue', () => {
  it('sends the message of an overdue retry again, once, and logs how many it has sent', async () => {
    const info = vi.spyOn(processContext().log, 'info').mockImplementation(() => {});
    const [overdue] = [await put(2 * graceMs), await put(0)];
    await runJob('deliveries');
    expect(await sentAgain()).toEqual([overdue]);
    await runJob('deliveries');
    expect(await sentAgain()).toEqual([]);
    expect(info.mock.calls).toEqual([
      [
        'scheduled',
        { job: 'deliveries', woken: 1, unfinished: false, DeliveriesLate: expect.any(Number), SlowDeliveriesLate: 0 },
      ],
      ['scheduled', { job: 'deliveries', woken: 0, unfinished: false, DeliveriesLate: 0, SlowDeliveriesLate: 0 }],
    ]);
  });

  it('sends the messages of all retries if it is called for the end of time', async () => {
    const ids = [await put(0), await put(0)];
    await runJob('deliveries', allTime);
    expect(await sentAgain()).toEqual(expect.arrayContaining(ids));
  });

  it('lists a sampled event until it has been sent to each subscriber', async () => {
    const receiver = await startReceiver();
    const { id } = await register(receiver.url, ['task.completed']);
    const event = sampled('task.completed');
    await appendEvent(processContext(), event);
    const listed = async () => (await Array.fromAsync(readDue(service, deliveryPartitions, allTime))).length;
    const before = await listed();
    await runJob('deliveries', allTime);
    expect(await listed()).toBe(before);
    const [message] = await readFirstAttempts(processContext(), event);
    await deliverWebhook(queueEvent([JSON.stringify(message && sentForm(message))]), contextOf('deliverWebhook', 30));
    await runJob('deliveries', allTime);
    expect(await listed()).toBe(before - 1);
    expect(message?.webhookId).toBe(id);
  });
});
