import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import { oldDeliveryPartitions } from '../../../lib/table/deliveries/old-deliveries.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { deleteWebhook, listDeliveries } from '../../../lib/webhooks/webhooks.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { writeItems } from '../../table/tasks/seed.ts';
import { allTime, runJob } from './call-functions.ts';
import { takeTurn } from './delivery-queues.ts';
import { createTestPipeline } from './test-pipeline.ts';

// The queues' engine and the service read the time in this process, so a faked one makes hours pass for both.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const pipeline = await createTestPipeline();
const { service, organization, urls, sqs } = pipeline;
const minuteMs = 60_000;
const queues = ['deliveries', 'firstRetry', 'secondRetry', 'thirdRetry'] as const;

/** A delivery in the form of the version before the attempt log. */
type OldDelivery = {
  state: 'pending' | 'retrying' | 'delivered' | 'exhausted';
  /** The number of its next attempt; of the last one at its end. */
  attempt: number;
  /** The number of attempts in its history; all failed but the attempt that delivered it. */
  attempts: number;
  /** Whether a worker of that version has leased the attempt. */
  leased?: boolean;
  /** The attempts that the messages in the queues ask for. */
  messages: number[];
};

/** Writes the items and messages of a delivery that fell due a minute ago, as the version before did. */
async function writeOldDelivery(webhookId: string, delivery: OldDelivery): Promise<string> {
  const { state, attempt, attempts, leased, messages } = delivery;
  const now = Date.now();
  const [ulid, webhook] = [processContext().ulid(), ulidOf(webhookId)];
  const [id, dueAt] = [`dlv_${ulid}`, timestamp(now - minuteMs)];
  const data = JSON.stringify({ task: { id: `tk_${ulid}`, title: 'Old', status: 'backlog' }, occurredAt: dueAt });
  const pk = `O#${organization}#WD#${webhook}`;
  const named = { organization, webhookId, attempt };
  const rows = Array.from({ length: attempts }, (_, nth) => {
    const endedAt = now - 10 * minuteMs + nth;
    const recordId = nth === 0 ? id : `dlv_${processContext().ulid()}`;
    const order = ulidFrom(endedAt, new Uint8Array(10)).slice(0, 10) + ulidOf(recordId);
    const failed = state !== 'delivered' || nth < attempts - 1;
    return {
      ...{ pk, sk: `*#${order}`, id: recordId, deliveryId: id, attempt: nth + 1, event: 'task.created' },
      ...{ durationMs: 1, deliveredAt: timestamp(endedAt), redelivery: nth > 0 },
      ...(failed ? { httpStatus: 500, error: 'The receiver answered 500.' } : { httpStatus: 204 }),
    };
  });
  await writeItems(service.table, [
    {
      ...{ pk, sk: `D#${ulid}`, ...named, id, event: 'task.created', data, state, nextAttemptAt: dueAt },
      ...((state === 'pending' || state === 'retrying') && { due: '1', dueAt: timestamp(now) }),
      ...(leased && { claim: 'theirs', leaseUntil: timestamp(now + 10_000) }),
    },
    ...rows,
    // One counter for each day and part of the load.
    ...(attempts > 0 ? [{ pk: `O#${organization}#C#WD#${webhook}`, sk: '2026-03-01#3', '*': attempts }] : []),
  ]);
  for (const asked of messages) {
    const MessageBody = JSON.stringify({ ...named, attempt: asked, deliveryId: id, dueAt });
    await sqs.send(new SendMessageCommand({ QueueUrl: urls[queues[asked - 1] ?? 'deliveries'], MessageBody }));
  }
  return id;
}

describe('a delivery of the version before', () => {
  const first: OldDelivery = { state: 'pending', attempt: 1, attempts: 0, messages: [1] };
  const retry: OldDelivery = { state: 'retrying', attempt: 3, attempts: 2, messages: [3] };

  it.each<[string, OldDelivery, status: number, posts: number]>([
    ['that waits for its first attempt', first, 204, 1],
    ['that waits at a receiver that fails', first, 500, 4],
    ['whose message is lost', { ...first, messages: [] }, 204, 1],
    ['with copies of its message', { ...first, messages: [1, 1, 1] }, 204, 1],
    ['while a worker of that version had leased it', { ...first, leased: true }, 204, 1],
    ['that waits for its second retry', retry, 204, 1],
    ['that waits for its second retry at a receiver that fails', retry, 500, 2],
    ['that waits for its second retry with a message of its first', { ...retry, messages: [2, 3] }, 204, 1],
    ['that waits for a retry whose message is lost', { ...retry, messages: [] }, 204, 1],
    ['with a message of an attempt that was made', { ...retry, state: 'delivered', attempts: 3 }, 204, 0],
    ['that is exhausted, with a message', { state: 'exhausted', attempt: 4, attempts: 4, messages: [4] }, 204, 0],
  ])('%s, ends with an exact history', async (_, delivery, status, posts) => {
    const { url, received } = await startReceiver((response) => response.writeHead(status).end());
    const { id: webhookId } = await pipeline.register(url);
    const deliveryId = await writeOldDelivery(webhookId, delivery);
    // The hours of a whole retry schedule pass, a quarter at a time.
    for (let quarter = 0; quarter < 16; quarter++) {
      await runJob('deliveries');
      await takeTurn(pipeline);
      vi.setSystemTime(Date.now() + 15 * minuteMs);
    }
    expect(received.map(({ headers }) => headers['x-service-delivery'])).toEqual(Array(posts).fill(deliveryId));
    const { items, total } = await listDeliveries(processContext(), organization, webhookId, { limit: 100, offset: 0 });
    const attempts = Array.from({ length: delivery.attempts + posts }, (_, nth) => [deliveryId, nth + 1]);
    expect(items.map((record) => [record.deliveryId, record.attempt]).reverse()).toEqual(attempts);
    expect(total).toBe(attempts.length);
    expect(await Array.fromAsync(readDue(service, oldDeliveryPartitions, allTime))).toEqual([]);
    await deleteWebhook(processContext(), organization, webhookId, () => {});
  });
});
