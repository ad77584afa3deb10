import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/keys.ts';
import { transact } from '../../../lib/table/transact.ts';
import type { Write } from '../../../lib/table/write.ts';
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

describe('an attempt', () => {
  it.each([
    ['a success', { httpStatus: 299 }, { state: 'delivered' }],
    ['a failure', failed, { state: 'retrying', attempt: 2, nextAttemptAt: '2026-03-01T12:05:02.000Z' }],
    ['no answer', { httpStatus: 0, error: 'No answer within 10 s.' }, { state: 'retrying' }],
  ])('is recorded with its outcome: %s', async (_, outcome, state) => {
    const message = await webhooks.message();
    const { send } = notingSender({ ...outcome, durationMs: 1234 }, () => {
      webhooks.clock.now = startTime + 2_000;
    });
    await webhooks.deliver(message, send);
    expect(await webhooks.delivery(message)).toMatchObject(state);
    expect(await webhooks.history(message.webhookId)).toEqual([
      {
        id: message.deliveryId,
        deliveryId: message.deliveryId,
        attempt: 1,
        event: 'task.created',
        durationMs: 1234,
        deliveredAt: '2026-03-01T12:00:02.000Z',
        redelivery: false,
        ...outcome,
      },
    ]);
  });

  it('that fails sends the message of the next attempt for the time when it is due', async () => {
    const message = await webhooks.message();
    await webhooks.attempt(message, failed);
    expect(webhooks.queue.sent.slice(1)).toEqual([
      {
        to: 'firstRetry',
        message: {
          ...message,
          attempt: 2,
          dueAt: '2026-03-01T12:05:00.000Z',
          listedBy: expect.stringMatching(/^A#01KJMMA2G0.{16}1$/),
        },
        delaySeconds: 300,
      },
    ]);
  });
});

describe('lastDeliveryAt', () => {
  const lastDeliveryAt = async (id: string) => (await getWebhook(webhooks, webhooks.organization, id)).lastDeliveryAt;

  /** Makes an attempt that ends some time after the start. */
  async function attemptEndingAt(
    message: Awaited<ReturnType<TestWebhooks['message']>>,
    milliseconds: number,
    outcome = {},
  ) {
    const { send } = notingSender(outcome, () => {
      webhooks.clock.now = startTime + milliseconds;
    });
    await webhooks.deliver(message, send);
  }

  it.each([
    ['success', {}],
    ['failure', failed],
  ])('is absent before the first attempt, and then the end of a %s, in each read', async (_, outcome) => {
    const message = await webhooks.message();
    expect(await getWebhook(webhooks, webhooks.organization, message.webhookId)).not.toHaveProperty('lastDeliveryAt');
    await attemptEndingAt(message, 3_000, outcome);
    const endedAt = '2026-03-01T12:00:03.000Z';
    expect(await lastDeliveryAt(message.webhookId)).toBe(endedAt);
    expect(await listWebhooks(webhooks, webhooks.organization)).toMatchObject([{ lastDeliveryAt: endedAt }]);
    await attemptEndingAt(await webhooks.nextMessage(), 8_000);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-03-01T12:00:08.000Z');
  });

  it('is that of the attempt that the history begins with, of many that end at once', async () => {
    const { id: webhookId } = await webhooks.register();
    const messages = (await Promise.all(Array.from({ length: 8 }, () => webhooks.publish()))).flat();
    const unique = new Map(messages.map((message) => [message.deliveryId, message]));
    let ended = 0;
    const { send } = notingSender({}, () => {
      webhooks.clock.now = startTime + ++ended * 1_000;
    });
    await Promise.all([...unique.values()].map((message) => webhooks.deliver(message, send)));
    const ends = (await webhooks.history(webhookId)).map(({ deliveredAt }) => deliveredAt);
    expect(ends).toHaveLength(8);
    expect(await lastDeliveryAt(webhookId)).toBe(ends[0]);
  });

  it('is the one that the version before the attempt log wrote, until another attempt is made', async () => {
    const message = await webhooks.message();
    const write: Write = {
      Update: {
        Key: keys.webhook(webhooks.organization, ulidOf(message.webhookId)),
        UpdateExpression: 'SET lastDeliveryAt = :at',
        ExpressionAttributeValues: { ':at': '2026-02-28T00:00:00.000Z' },
      },
    };
    await transact(webhooks.table, [write]);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-02-28T00:00:00.000Z');
    await attemptEndingAt(message, 3_000);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-03-01T12:00:03.000Z');
  });
});

describe('the metric of an attempt', () => {
  it.each([
    [1, 'succeeds', {}],
    [0, 'fails', failed],
  ])('is %d if the attempt %s, so that its average is the success rate', async (delivered, _, outcome) => {
    const message = await webhooks.message();
    const { send } = notingSender(outcome);
    expect(await webhooks.deliver(message, send)).toEqual({ AttemptsDelivered: delivered });
  });

  it('is absent if no attempt is made', async () => {
    const message = await webhooks.message();
    const { send } = notingSender();
    await webhooks.deliver(message, send);
    expect(await webhooks.deliver(message, send)).toEqual({});
  });
});
