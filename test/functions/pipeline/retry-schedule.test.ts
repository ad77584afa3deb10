import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { deliveryPartitions } from '../../../lib/table/lists/delivery-partitions.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { getWebhook, listDeliveries } from '../../../lib/webhooks/webhooks.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { allTime, runJob } from './call-functions.ts';
import { messagesIn, takeTurn } from './delivery-queues.ts';
import { createTestPipeline } from './test-pipeline.ts';

// The queues' engine and the service read the time in this process, so a faked one makes hours pass for both.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.250Z') });

const pipeline = await createTestPipeline();
const { service, organization, urls } = pipeline;
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const send = vi.spyOn(SQSClient.prototype, 'send');

/** Returns the messages that were put in queues since the last call, with the seconds of their delay. */
function newlySent() {
  const commands = send.mock.calls.splice(0).map(([command]) => command as unknown);
  return commands.flatMap((command) => {
    if (!(command instanceof SendMessageBatchCommand)) return [];
    const queue = Object.entries(urls).find(([, url]) => url === command.input.QueueUrl)?.[0];
    const entries = command.input.Entries ?? [];
    return entries.map(({ DelaySeconds = 0 }) => ({ queue, delay: DelaySeconds, at: Date.now() }));
  });
}

/**
 * Publishes an event and lets time pass from message to message until no queue has one: a turn a millisecond before each
 * can be received, which receives nothing, and one at its moment. Returns the messages.
 */
async function deliverAll(): Promise<string[]> {
  await pipeline.publishTask('Grüße 🚀');
  const sent = newlySent();
  for (const { at, delay } of sent) {
    if (delay > 0) {
      vi.setSystemTime(at + delay * 1000 - 1);
      expect(await takeTurn(pipeline)).toEqual([]);
    }
    vi.setSystemTime(at + delay * 1000);
    expect(await takeTurn(pipeline)).toHaveLength(1);
    // The loop goes on to what this adds.
    sent.push(...newlySent());
  }
  return sent.map(({ queue, delay }) => `${queue} ${delay}`);
}

it('a receiver that always answers 500 gets the event at once and 5 minutes, 30 minutes and 2 hours after each failure', async () => {
  const arrived: { at: number; headers: Record<string, string>; body: string }[] = [];
  const { url, received } = await startReceiver((response) => {
    const { headers = {}, raw = '' } = received.at(-1) ?? {};
    arrived.push({ at: Date.now(), headers: headers as Record<string, string>, body: raw.toString() });
    response.writeHead(500).end();
  });
  const { id } = await pipeline.register(url, ['task.created'], secret);
  // A message can be delayed by 15 minutes at most.
  expect(await deliverAll()).toEqual([
    ...['deliveries 0', 'firstRetry 300'],
    ...Array(2).fill('secondRetry 900'),
    ...Array(8).fill('thirdRetry 900'),
  ]);
  const { items: records } = await listDeliveries(processContext(), organization, id, { limit: 100, offset: 0 });
  const ends = records.map(({ deliveredAt }) => Date.parse(deliveredAt)).reverse();
  for (const [nth, wait] of [300_000, 1_800_000, 7_200_000].entries()) {
    const lateMs = (arrived[nth + 1]?.at as number) - (ends[nth] as number) - wait;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(1_000);
  }

  const deliveryId = arrived[0]?.headers['x-service-delivery'] as string;
  expect(records).toMatchObject(
    [4, 3, 2, 1].map((attempt) => ({ deliveryId, attempt, redelivery: attempt > 1, httpStatus: 500 })),
  );
  expect([new Set(records.map((record) => record.id)).size, records[3]?.id]).toEqual([4, deliveryId]);
  const { data: webhook } = await getWebhook(processContext(), organization, id);
  expect(webhook.lastDeliveryAt).toBe(records[0]?.deliveredAt);

  const [{ data }] = arrived.map(({ body }) => JSON.parse(body)) as [{ data: object }];
  expect(arrived).toHaveLength(4);
  // Each is signed again, over its own time.
  for (const { at, headers, body } of arrived) {
    vi.setSystemTime(at);
    const event = { event: 'task.created', deliveryId, timestamp: new Date(at).toISOString(), data };
    expect(new StandardWebhook(secret).verify(body, headers)).toEqual(event);
  }

  await runJob('deliveries', allTime);
  for (const queue of [
    'deliveries',
    'slowDeliveries',
    'firstRetry',
    'secondRetry',
    'thirdRetry',
    'deadLetters',
  ] as const)
    expect(await messagesIn(pipeline, urls[queue])).toBe(0);
  expect(await Array.fromAsync(readDue(service, deliveryPartitions, allTime))).toEqual([]);
});
