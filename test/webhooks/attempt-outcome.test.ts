import { createHmac } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../lib/contract/ids.ts';
import { keys } from '../../lib/table/keys.ts';
import { transact } from '../../lib/table/transact.ts';
import type { Write } from '../../lib/table/write.ts';
import { getWebhook, listWebhooks } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from './test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;

beforeEach(() => {
  webhooks = createTestWebhooks();
});

describe('what is posted', () => {
  it('is exactly event, deliveryId, timestamp and data', async () => {
    const message = await webhooks.message({ url: 'https://example.com/a?b' });
    webhooks.clock.now = startTime + 5_432;
    const { posts, send } = notingSender();
    await webhooks.deliver(message, send);
    expect(posts).toHaveLength(1);
    expect(posts[0]?.url).toBe('https://example.com/a?b');
    const { event, deliveryId, timestamp, data, ...rest } = JSON.parse(posts[0]?.body ?? '');
    expect(rest).toEqual({});
    expect({ event, deliveryId, timestamp }).toEqual({
      event: 'task.created',
      deliveryId: message.deliveryId,
      timestamp: '2026-03-01T12:00:05.432Z',
    });
    expect(data).toEqual({
      task: { id: expect.stringMatching(/^tk_/), title: 'A task', status: 'backlog' },
      occurredAt: '2026-03-01T12:00:00.000Z',
    });
  });

  it('has the attempt’s own moment in its header, in whole seconds of the body’s', async () => {
    const message = await webhooks.message();
    webhooks.clock.now = startTime + 5_999;
    const { posts, send } = notingSender();
    await webhooks.deliver(message, send);
    const seconds = posts[0]?.headers['X-Service-Timestamp'];
    expect(seconds).toBe('1772366405');
    expect(Math.floor(Date.parse(JSON.parse(posts[0]?.body ?? '').timestamp) / 1000)).toBe(Number(seconds));
  });

  it('is signed over the very text that is posted', async () => {
    const message = await webhooks.message({ secret: 'ü secret' });
    const { posts, send } = notingSender();
    await webhooks.deliver(message, send);
    const expected = createHmac('sha256', Buffer.from('ü secret', 'utf8'))
      .update(posts[0]?.body ?? '')
      .digest('hex');
    expect(posts[0]?.headers['X-Service-Signature']).toBe(`sha256=${expected}`);
    expect(JSON.stringify(posts)).not.toContain('ü secret');
  });

  it('has no signature of any kind for a webhook without a secret', async () => {
    const message = await webhooks.message();
    const { posts, send } = notingSender();
    await webhooks.deliver(message, send);
    expect(Object.keys(posts[0]?.headers ?? {}).filter((name) => /signature|^webhook-/i.test(name))).toEqual([]);
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

describe('a success', () => {
  it('is delivered, and recorded without an error', async () => {
    const message = await webhooks.message();
    const { send } = notingSender({ httpStatus: 299, durationMs: 1234 }, () => {
      webhooks.clock.now = startTime + 2_000;
    });
    await webhooks.deliver(message, send);
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'delivered' });
    const records = await webhooks.history(message.webhookId);
    expect(records).toMatchObject([
      {
        id: message.deliveryId,
        deliveryId: message.deliveryId,
        attempt: 1,
        event: 'task.created',
        httpStatus: 299,
        durationMs: 1234,
        deliveredAt: '2026-03-01T12:00:02.000Z',
        redelivery: false,
      },
    ]);
    expect(records[0]).not.toHaveProperty('error');
  });
});

describe('a failure', () => {
  it('leads to the next attempt, and is recorded with its status and error', async () => {
    const message = await webhooks.message();
    await webhooks.deliver(message, notingSender({ ...failed, durationMs: 9 }).send);
    expect(await webhooks.delivery(message)).toMatchObject({
      state: 'retrying',
      attempt: 2,
      nextAttemptAt: '2026-03-01T12:05:00.000Z',
    });
    expect(await webhooks.history(message.webhookId)).toMatchObject([
      {
        id: message.deliveryId,
        deliveryId: message.deliveryId,
        attempt: 1,
        event: 'task.created',
        httpStatus: 500,
        durationMs: 9,
        deliveredAt: '2026-03-01T12:00:00.000Z',
        redelivery: false,
        error: 'The receiver answered 500.',
      },
    ]);
  });

  it('without an answer is recorded with status 0', async () => {
    const message = await webhooks.message();
    await webhooks.deliver(message, notingSender({ httpStatus: 0, error: 'No answer within 10 s.' }).send);
    expect(await webhooks.history(message.webhookId)).toMatchObject([
      { httpStatus: 0, error: 'No answer within 10 s.' },
    ]);
  });

  it('sends the message of the next attempt for the time when it is due', async () => {
    const message = await webhooks.message();
    await webhooks.deliver(message, notingSender(failed).send);
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

describe('an ended delivery', () => {
  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('is on no list of the sweeper: %s', async (state, outcome) => {
    const message = await webhooks.message();
    await webhooks.attemptAll(message, notingSender(outcome).send);
    expect(await webhooks.delivery(message)).toMatchObject({ state, listed: false });
  });
});

describe('lastDeliveryAt', () => {
  const lastDeliveryAt = async (id: string) => (await getWebhook(webhooks, webhooks.organization, id)).lastDeliveryAt;

  /** Makes an attempt that ends so long after the startTime. */
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

  it('is absent before the first attempt', async () => {
    const { webhookId } = await webhooks.message();
    expect(await getWebhook(webhooks, webhooks.organization, webhookId)).not.toHaveProperty('lastDeliveryAt');
  });

  it.each([
    ['success', {}],
    ['failure', failed],
  ])('is the end of a %s, in the list and in the single read', async (_, outcome) => {
    const message = await webhooks.message();
    await attemptEndingAt(message, 3_000, outcome);
    expect(await lastDeliveryAt(message.webhookId)).toBe('2026-03-01T12:00:03.000Z');
    expect(await listWebhooks(webhooks, webhooks.organization)).toMatchObject([
      { lastDeliveryAt: '2026-03-01T12:00:03.000Z' },
    ]);
  });

  it('moves on with the next attempt', async () => {
    const message = await webhooks.message();
    await attemptEndingAt(message, 3_000);
    const [next] = await webhooks.publish();
    await attemptEndingAt(next as typeof message, 8_000);
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

  it('is what a version before the attempt log has written, until another attempt is made', async () => {
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

describe('what is counted', () => {
  it.each([
    [1, 'a receiver took', {}],
    [0, 'none took', failed],
  ])('is %d of an attempt that %s, so that the average is the share that arrives', async (delivered, _, outcome) => {
    const message = await webhooks.message();
    const { send } = notingSender(outcome);
    expect(await webhooks.deliver(message, send)).toEqual({ AttemptsDelivered: delivered });
  });

  it('is nothing where no attempt is made', async () => {
    const message = await webhooks.message();
    const { send } = notingSender();
    await webhooks.deliver(message, send);
    expect(await webhooks.deliver(message, send)).toEqual({});
  });
});
