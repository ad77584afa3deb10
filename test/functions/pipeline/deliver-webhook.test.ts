import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler } from '../../../functions/pipeline/deliver-webhook.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { deleteWebhook, listDeliveries, listWebhooks } from '../../../lib/webhooks/webhooks.ts';
import { queueEvent } from '../../queue-event.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { openPipeline } from './pipeline.ts';

const { organization, register, receive } = await openPipeline();

beforeEach(() => {
  vi.spyOn(processContext().log, 'error').mockImplementation(() => {});
});

afterEach(() => vi.restoreAllMocks());

async function deliver(bodies: readonly string[]) {
  const { batchItemFailures } = await handler(queueEvent(bodies), contextOf('deliverWebhook', 30));
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** Publishes a new task's event: the messages that this puts in the queue. */
async function publish(title = 'A task'): Promise<string[]> {
  const item = `tk_${processContext().ulid()}`;
  const data = {
    task: { id: item, title, status: 'backlog' as const },
    occurredAt: timestamp(processContext().clock()),
  };
  await publishEvents(processContext(), { organization, item, version: 1, events: [{ event: 'task.created', data }] });
  return receive();
}

/** A webhook whose receiver answers with a status, and the message of an event for it alone. */
async function waiting(status = 204, secret?: string) {
  for (const { id } of await listWebhooks(processContext(), organization))
    await deleteWebhook(processContext(), organization, id);
  const receiver = await startReceiver((response) => response.writeHead(status).end());
  const { id } = await register(receiver.url, ['task.created'], secret);
  const [message = ''] = await publish('Grüße 🚀');
  return { ...receiver, id, message };
}

const history = async (id: string) =>
  (await listDeliveries(processContext(), organization, id, { limit: 100, offset: 0 })).items;

describe('deliver-webhook', () => {
  it('posts the event and records the attempt', async () => {
    const { id, message, received } = await waiting();
    expect(await deliver([message])).toEqual([]);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      method: 'POST',
      path: '/hooks',
      headers: { 'content-type': 'application/json' },
    });
    const { deliveryId } = JSON.parse(message);
    const body = JSON.parse(received[0]?.raw.toString('utf8') ?? '');
    expect(Object.keys(body)).toEqual(['event', 'deliveryId', 'timestamp', 'data']);
    expect(body).toMatchObject({ event: 'task.created', deliveryId, data: { task: { title: 'Grüße 🚀' } } });
    expect(await history(id)).toMatchObject([{ id: deliveryId, httpStatus: 204, redelivery: false }]);
  });

  it('sends the headers of a delivery, and no signature without a secret', async () => {
    const { message, received } = await waiting();
    await deliver([message]);
    const { headers = {}, raw = Buffer.alloc(0) } = received[0] ?? {};
    const { deliveryId, timestamp: sentAt } = JSON.parse(raw.toString('utf8'));
    expect(headers['x-service-event']).toBe('task.created');
    expect(headers['x-service-delivery']).toBe(deliveryId);
    expect(headers['x-service-timestamp']).toBe(String(Math.floor(Date.parse(sentAt) / 1000)));
    expect(Object.keys(headers).filter((name) => /signature|^webhook-/.test(name))).toEqual([]);
  });

  it('signs the raw bytes that arrive, in both ways', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { message, received } = await waiting(204, secret);
    await deliver([message]);
    const { headers = {}, raw = Buffer.alloc(0) } = received[0] ?? {};
    const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(raw).digest('hex');
    expect(headers['x-service-signature']).toBe(`sha256=${expected}`);
    const verified = new StandardWebhook(secret).verify(raw.toString('utf8'), headers as Record<string, string>);
    expect(verified).toMatchObject({ event: 'task.created' });
  });

  it('posts once for one message that comes ten times at once', async () => {
    const { id, message, received } = await waiting();
    expect(await deliver(Array(10).fill(message))).toEqual([]);
    expect(received).toHaveLength(1);
    expect(await history(id)).toHaveLength(1);
  });

  it('deletes the message of an attempt that fails, because its retry has a message of its own', async () => {
    const { id, message, received } = await waiting(503);
    expect(await deliver([message])).toEqual([]);
    expect(await deliver([message])).toEqual([]);
    expect(received).toHaveLength(1);
    expect(await history(id)).toMatchObject([{ httpStatus: 503, error: 'The receiver answered 503.' }]);
  });

  it.each(['{"organization":', '{}', '"text"'])(
    'reports the invalid message %j, and handles the others',
    async (broken) => {
      const { id, message, received } = await waiting();
      expect(await deliver([broken, message])).toEqual(['message-0']);
      expect(received).toHaveLength(1);
      expect(await history(id)).toHaveLength(1);
    },
  );

  it('delivers a batch of ten to one receiver', async () => {
    const { id, message, received } = await waiting();
    const messages = [message];
    while (messages.length < 10) messages.push(...(await publish()));
    expect(await deliver(messages)).toEqual([]);
    expect(received).toHaveLength(10);
    expect(await history(id)).toHaveLength(10);
  });

  it('has no secret in the queue’s messages', async () => {
    const { message } = await waiting(204, 'a very own secret');
    const fields = ['organization', 'webhookId', 'deliveryId', 'eventId', 'attempt', 'due'];
    expect(Object.keys(JSON.parse(message))).toEqual(fields);
    expect(message).not.toContain('secret');
  });
});
