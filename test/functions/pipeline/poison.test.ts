import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import { maxReceiveCount, queues } from '../../../lib/deployment/queues.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { messagesIn, takeTurn } from './delivery-queues.ts';
import { messageOf, openPipeline } from './pipeline.ts';

// The queues' engine reads the time in this process, so a faked one ends the time for which it hides a message.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const pipeline = await openPipeline();
const { organization, urls, sqs } = pipeline;
const { received, url } = await startReceiver();
await pipeline.register(url);
const shards = consumers.deliverWebhook.sources.map(({ queue }) => queue);

beforeEach(() => {
  vi.spyOn(processContext().log, 'error').mockImplementation(() => {});
});

/** Publishes an event and takes its message out of the queue, for a test to put it where it wants. */
async function goodMessage(): Promise<string> {
  const item = `tk_${processContext().ulid()}`;
  const data = { task: { id: item, title: 'A task', status: 'backlog' as const }, occurredAt: timestamp(Date.now()) };
  await publishEvents(processContext(), { organization, item, version: 1, events: [{ event: 'task.created', data }] });
  const [body = ''] = await pipeline.receive();
  return body;
}

describe.each(shards)('a message in %s that cannot be read', (queue) => {
  const put = (MessageBody: string) => sqs.send(new SendMessageCommand({ QueueUrl: urls[queue], MessageBody }));

  it('is received five times and then becomes a dead letter, while the others are delivered', async () => {
    const poison = `{"poison":"${queue}"}`;
    const good = [await goodMessage(), await goodMessage()];
    for (const body of [good[0], poison, good[1]]) await put(body ?? '');
    const first = await takeTurn(pipeline);
    expect(first.map(({ body }) => body).sort()).toEqual([...good, poison].sort());
    const deliveryIds = received.map(({ headers }) => headers['x-service-delivery']);
    for (const body of good) expect(deliveryIds.filter((id) => id === messageOf(body).deliveryId)).toHaveLength(1);

    for (let receives = 2; receives <= maxReceiveCount; receives++) {
      vi.setSystemTime(Date.now() + queues[queue].visibilitySeconds * 1000);
      expect(await takeTurn(pipeline)).toContainEqual({ queue, body: poison });
    }
    expect(await pipeline.receive('deadLetters')).not.toContain(poison);
    vi.setSystemTime(Date.now() + queues[queue].visibilitySeconds * 1000);
    expect(await takeTurn(pipeline)).not.toContainEqual({ queue, body: poison });
    expect((await pipeline.receive('deadLetters')).filter((body) => body === poison)).toHaveLength(1);
    expect(await messagesIn(pipeline, urls[queue])).toBe(0);
  });
});
