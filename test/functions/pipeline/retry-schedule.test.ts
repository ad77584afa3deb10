import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks.ts';
import { deliveryPartitions } from '../../../lib/table/deliveries/delivery-partitions.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { deleteWebhook, getWebhook, listDeliveries, listWebhooks } from '../../../lib/webhooks/webhooks.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { messagesIn, type ReceivedMessage, takeTurn } from './delivery-queues.ts';
import { allTime, runJob } from './jobs.ts';
import { openPipeline } from './pipeline.ts';

// The queues' engine and the service read the time in this process, so a faked one makes hours pass for both.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.250Z') });

const pipeline = await openPipeline();
const { service, organization, urls } = pipeline;
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const waits = [300_000, 1_800_000, 7_200_000];

/** A message that was put in a queue, and when. */
type Sent = { queue: string; delaySeconds: number; at: number };

/** A post that arrived, and when. */
type Arrived = { at: number; headers: Record<string, string>; body: string };

const send = vi.spyOn(SQSClient.prototype, 'send');

const nameOf = (url: string | undefined) => Object.entries(urls).find((entry) => entry[1] === url)?.[0] ?? '';

/** The messages that were put in queues since the last look; the time has not moved since. */
function newlySent(): Sent[] {
  const commands = send.mock.calls.splice(0).map(([command]) => command as unknown);
  return commands.flatMap((command) =>
    command instanceof SendMessageBatchCommand
      ? (command.input.Entries ?? []).map(({ DelaySeconds = 0 }) => ({
          queue: nameOf(command.input.QueueUrl),
          delaySeconds: DelaySeconds,
          at: Date.now(),
        }))
      : [],
  );
}

/** The only webhook, with a receiver that fails so often before it answers 204, and what arrives there. */
async function receiverFailing(times: number) {
  for (const { id } of await listWebhooks(processContext(), organization))
    await deleteWebhook(processContext(), organization, id);
  const arrived: Arrived[] = [];
  const { url, received } = await startReceiver((response) => {
    const { headers = {}, raw = '' } = received.at(-1) ?? {};
    arrived.push({ at: Date.now(), headers: headers as Record<string, string>, body: raw.toString() });
    response.writeHead(arrived.length > times ? 204 : 500).end();
  });
  const { id } = await pipeline.register(url, ['task.created'], secret);
  return { id, arrived };
}

/**
 * Publishes the event of a new task and lets time pass from message to message until no queue has one: a turn a
 * millisecond before each can be received, and one at its moment.
 *
 * @returns all that was sent, and what was received too early
 */
async function deliverAll(): Promise<{ sent: Sent[]; early: ReceivedMessage[] }> {
  const item = `tk_${processContext().ulid()}`;
  const data = { task: { id: item, title: 'Grüße 🚀', status: 'backlog' as const }, occurredAt: timestamp(Date.now()) };
  await publishEvents(processContext(), { organization, item, version: 1, events: [{ event: 'task.created', data }] });
  const sent = newlySent();
  const early: ReceivedMessage[] = [];
  for (const { at, delaySeconds } of sent) {
    const due = at + delaySeconds * 1000;
    if (delaySeconds > 0) {
      vi.setSystemTime(due - 1);
      early.push(...(await takeTurn(pipeline)));
    }
    vi.setSystemTime(due);
    expect(await takeTurn(pipeline)).toHaveLength(1);
    // The loop goes on to what this adds.
    sent.push(...newlySent());
  }
  return { sent, early };
}

const history = async (id: string) =>
  (await listDeliveries(processContext(), organization, id, { limit: 100, offset: 0 })).items;

/**
 * What still waits once the sweeper has seen that sampled events need nothing more: messages in any queue, dead letters,
 * and what its index lists for ever after.
 */
async function waiting(): Promise<number> {
  await runJob('deliveries', allTime);
  const names = ['deliveries', 'slowDeliveries', 'firstRetry', 'secondRetry', 'thirdRetry', 'deadLetters'] as const;
  const counts = await Promise.all(names.map((name) => messagesIn(pipeline, urls[name])));
  const due = await Array.fromAsync(readDue(service, deliveryPartitions, allTime));
  return counts.reduce((total, count) => total + count, due.length);
}

describe('a receiver that always answers 500', () => {
  let completed: {
    id: string;
    arrived: Arrived[];
    early: ReceivedMessage[];
    records: DeliveryRecord[];
    sent: Sent[];
    left: number;
  };

  // All attempts are made once; the tests examine the results.
  beforeAll(async () => {
    const { id, arrived } = await receiverFailing(Number.POSITIVE_INFINITY);
    const { sent, early } = await deliverAll();
    completed = { id, arrived, early, records: await history(id), sent, left: await waiting() };
  });

  it('is posted to at once and 5 minutes, 30 minutes and 2 hours after each failure, and never a moment before', () => {
    const { arrived, early, records } = completed;
    expect(early).toEqual([]);
    expect(arrived).toHaveLength(4);
    const ends = records.map(({ deliveredAt }) => Date.parse(deliveredAt)).reverse();
    for (const [nth, wait] of waits.entries()) {
      const waited = (arrived[nth + 1]?.at ?? 0) - (ends[nth] ?? 0);
      expect(waited).toBeGreaterThanOrEqual(wait);
      expect(waited).toBeLessThan(wait + 1000);
    }
  });

  it('has four attempts in its history, the newest first, each with an id of its own', async () => {
    const { id, records } = completed;
    expect(records.map(({ attempt, redelivery }) => ({ attempt, redelivery }))).toEqual([
      { attempt: 4, redelivery: true },
      { attempt: 3, redelivery: true },
      { attempt: 2, redelivery: true },
      { attempt: 1, redelivery: false },
    ]);
    expect(new Set(records.map((record) => record.id)).size).toBe(4);
    expect(records[3]?.id).toBe(records[3]?.deliveryId);
    for (const { deliveryId, httpStatus } of records)
      expect({ deliveryId, httpStatus }).toEqual({ deliveryId: records[3]?.id, httpStatus: 500 });
    const { lastDeliveryAt } = await getWebhook(processContext(), organization, id);
    expect(lastDeliveryAt).toBe(records[0]?.deliveredAt);
  });

  it('gets the same delivery id in the headers and bodies of all four, and the same event', () => {
    const { arrived, records } = completed;
    const deliveryId = records[0]?.deliveryId;
    const bodies = arrived.map(({ body }) => JSON.parse(body));
    for (const [nth, { headers }] of arrived.entries())
      expect([headers['x-service-delivery'], headers['webhook-id'], bodies[nth].deliveryId]).toEqual(
        Array(3).fill(deliveryId),
      );
    for (const { event, data } of bodies)
      expect({ event, data }).toEqual({ event: 'task.created', data: bodies[0].data });
  });

  it('can verify each attempt at its moment, signed anew over a timestamp of its own', () => {
    for (const { at, headers, body } of completed.arrived) {
      vi.setSystemTime(at);
      expect(() => new StandardWebhook(secret).verify(body, headers)).not.toThrow();
      const { timestamp: sentAt } = JSON.parse(body);
      expect(sentAt).toBe(timestamp(at));
      expect([headers['x-service-timestamp'], headers['webhook-timestamp']]).toEqual(
        Array(2).fill(String(Math.floor(at / 1000))),
      );
    }
    expect(new Set(completed.arrived.map(({ headers }) => headers['x-service-signature'])).size).toBe(4);
  });

  it('takes eleven messages of at most 15 minutes in the queues of the steps', () => {
    const [first, ...hops] = completed.sent;
    expect(first).toMatchObject({ queue: 'deliveries', delaySeconds: 0 });
    expect(hops.map(({ queue, delaySeconds }) => `${queue} ${delaySeconds}`)).toEqual([
      'firstRetry 300',
      ...Array(2).fill('secondRetry 900'),
      ...Array(8).fill('thirdRetry 900'),
    ]);
  });

  it('is exhausted, and nothing waits any more', async () => {
    expect(completed.left).toBe(0);
    vi.setSystemTime(Date.now() + 24 * 60 * 60_000);
    expect(await takeTurn(pipeline)).toEqual([]);
  });
});

describe('a receiver that fails', () => {
  it.each([0, 1, 2, 3])('%i times gets the event by one attempt more', async (failures) => {
    const { id, arrived } = await receiverFailing(failures);
    expect((await deliverAll()).early).toEqual([]);
    expect(arrived).toHaveLength(failures + 1);
    const records = await history(id);
    expect(records.map(({ httpStatus }) => httpStatus)).toEqual([204, ...Array(failures).fill(500)]);
    expect(records[0]).not.toHaveProperty('error');
    expect(await waiting()).toBe(0);
  });
});
