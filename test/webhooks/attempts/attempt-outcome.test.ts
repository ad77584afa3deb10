import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { getWebhook, listWebhooks } from '../../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

describe('a post', () => {
  it('has exactly event, deliveryId, timestamp and data, and the same second in its header', async () => {
    const message = await webhooks.message({ url: 'https://example.com/a?b' });
    webhooks.clock.now = startTime + 5_999;
    const { posts, send } = notingSender();
    await webhooks.deliver(message, send);
    expect(posts).toMatchObject([{ url: 'https://example.com/a?b', headers: { 'X-Service-Timestamp': '1772366405' } }]);
    expect(JSON.parse(posts[0]?.body ?? '')).toEqual({
      event: 'task.created',
      deliveryId: message.deliveryId,
      timestamp: '2026-03-01T12:00:05.999Z',
      data: {
        task: { id: expect.stringMatching(/^tk_/), title: 'A task', status: 'backlog' },
        occurredAt: '2026-03-01T12:00:00.000Z',
      },
    });
  });

  it('is never unsigned for a webhook with a secret, not even between its deletion’s writes', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    // A batch of reads is not one moment: it can find the webhook before its deletion and the secret after it.
    const Key = keys.webhookSecret(webhooks.organization, ulidOf(message.webhookId));
    await webhooks.table.client.send(new DeleteCommand({ TableName: webhooks.table.name, Key }));
    const { posts, send } = notingSender();
    await webhooks.deliver(message, send).catch(() => {});
    expect(posts).toEqual([]);
  });
});

/** Makes an attempt that ends some time after the start, and returns its metric. */
const attemptEndingAt = (message: DeliveryMessage, milliseconds: number, outcome = {}) => {
  const endedAt = startTime + milliseconds;
  return webhooks.deliver(message, notingSender(outcome, () => Object.assign(webhooks.clock, { now: endedAt })).send);
};

describe('an attempt', () => {
  it.each([
    ['a success', { httpStatus: 299 }, { state: 'delivered' }, 1],
    ['a failure', failed, { state: 'retrying', attempt: 2, nextAttemptAt: '2026-03-01T12:05:02.000Z' }, 0],
  ])('is recorded with its outcome, and counted for the success rate: %s', async (_, outcome, state, delivered) => {
    const message = await webhooks.message();
    const counts = await attemptEndingAt(message, 2_000, { ...outcome, durationMs: 1234 });
    expect(counts).toEqual({ AttemptsDelivered: delivered });
    expect(await webhooks.delivery(message)).toMatchObject(state);
    const { deliveryId } = message;
    const event = 'task.created';
    const deliveredAt = '2026-03-01T12:00:02.000Z';
    expect(await webhooks.history(message.webhookId)).toEqual([
      { id: deliveryId, deliveryId, attempt: 1, event, durationMs: 1234, deliveredAt, redelivery: false, ...outcome },
    ]);
    expect(await attemptEndingAt(message, 3_000)).toEqual({});
  });

  it('that fails sends the message of the next attempt for the time when it is due', async () => {
    const message = await webhooks.message();
    const listedBy = expect.stringMatching(/^A#01KJMMA2G0.{16}1$/);
    const retry = { ...message, attempt: 2, dueAt: '2026-03-01T12:05:00.000Z', listedBy };
    expect((await webhooks.attempt(message, failed)).sent).toEqual([
      { to: 'firstRetry', message: retry, delaySeconds: 300 },
    ]);
  });
});

it('the first attempt of one delivery of 256 closes the counts of its webhook', async () => {
  const message = await webhooks.message();
  webhooks.clock.now += 10 * 60_000;
  const closed = async () => Object.keys(await webhooks.dump()).filter((key) => key.includes(' closed'));
  for (const [end, counts] of [
    ['11', 0],
    ['G0', 1],
  ] as const) {
    await webhooks.attempt({ ...message, deliveryId: message.deliveryId.slice(0, -2) + end });
    expect(await closed()).toHaveLength(counts);
  }
});

describe('lastDeliveryAt', () => {
  const lastDeliveryAt = async (id: string) =>
    (await getWebhook(webhooks, webhooks.organization, id)).data.lastDeliveryAt;

  it('is absent before the first attempt, and then the end of the last one, in each read', async () => {
    const message = await webhooks.message();
    expect(await lastDeliveryAt(message.webhookId)).toBeUndefined();
    await attemptEndingAt(message, 3_000, failed);
    const endedAt = '2026-03-01T12:00:03.000Z';
    expect(await lastDeliveryAt(message.webhookId)).toBe(endedAt);
    expect(await listWebhooks(webhooks, webhooks.organization)).toMatchObject([{ lastDeliveryAt: endedAt }]);
    await attemptEndingAt(await webhooks.nextMessage(), 8_000);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-03-01T12:00:08.000Z');
  });

  it('is that of the attempt that the history begins with, of many that end at once', async () => {
    const { id } = await webhooks.register();
    const messages = await Promise.all(Array.from({ length: 8 }, () => webhooks.nextMessage()));
    await Promise.all(messages.map((message, nth) => attemptEndingAt(message, 1_000 * (nth + 1))));
    const [newest] = await webhooks.history(id);
    expect(await lastDeliveryAt(id)).toBe(newest?.deliveredAt);
  });

  it('is the one that the version before the attempt log wrote, until another attempt is made', async () => {
    const message = await webhooks.message();
    const Update = {
      Key: keys.webhook(webhooks.organization, ulidOf(message.webhookId)),
      UpdateExpression: 'SET lastDeliveryAt = :at',
      ExpressionAttributeValues: { ':at': '2026-02-28T00:00:00.000Z' },
    };
    await transact(webhooks.table, [{ Update }]);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-02-28T00:00:00.000Z');
    await attemptEndingAt(message, 3_000);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-03-01T12:00:03.000Z');
  });
});
