import { setImmediate as turn } from 'node:timers/promises';
import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import type { QueueSender } from '../../../lib/aws/queue.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { environment } from '../../../lib/names/environment.ts';
import { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { lateAfterMs } from '../../../lib/table/deliveries/attempt-log.ts';
import { markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { deliveryQueues } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { deleteWebhook, listWebhooks, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const beginElsewhere = (message: DeliveryMessage, outcome = {}) =>
  webhooks.beginAttempt(message, outcome, webhooks.createContainer());

describe('an attempt', () => {
  it('is made once for ten copies of its message in one container', async () => {
    const message = await webhooks.message();
    const { posts, send } = notingSender();
    await Promise.all(Array.from({ length: 10 }, () => webhooks.deliver(message, send)));
    expect(posts).toHaveLength(1);
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  it('whose secret cannot be decrypted fails all copies, and is signed when its message comes again', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    const { [environment.secretsKeyFile]: key } = webhooks.variables;
    webhooks.variables[environment.secretsKeyFile] = undefined;
    const { posts, send } = notingSender();
    const ended = await Promise.allSettled([1, 2, 3].map(() => webhooks.deliver(message, send)));
    const reason = expect.objectContaining({ message: expect.stringContaining('no key for webhook secrets') });
    expect(ended).toEqual(Array(3).fill({ status: 'rejected', reason }));
    expect(posts).toEqual([]);
    expect(await webhooks.delivery(message)).toEqual({ state: 'pending', attempt: 1 });
    webhooks.variables[environment.secretsKeyFile] = key;
    webhooks.clock.now += 180_000;
    await webhooks.deliver(message, send);
    expect(posts).toMatchObject([{ headers: { 'X-Service-Signature': expect.any(String) } }]);
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  // The call that sends a message still runs when the queue has it.
  it.each<[string, (message: DeliveryMessage) => Promise<DeliveryMessage>]>([
    [
      'moved to the queue of slow webhooks',
      async (message) => {
        await markWebhookSlow(webhooks, webhooks.organization, message.webhookId);
        return message;
      },
    ],
    [
      'sent again because it was early',
      async (message) => {
        const retry = await webhooks.retry(message);
        webhooks.clock.now = Date.parse(retry.dueAt) - 1;
        return retry;
      },
    ],
    [
      'delayed until another worker must have ended',
      async (message) => {
        webhooks.clock.now += lateAfterMs;
        return message;
      },
    ],
    [
      'released because its pause had ended',
      async (message) => {
        webhooks.clock.now += 1;
        await updateWebhook(webhooks, webhooks.organization, message.webhookId, { active: false }, () => {});
        return message;
      },
    ],
  ])(
    'is made by its message that was %s, although the queue has it before the sending call ends',
    async (_, prepare) => {
      const message = await prepare(await webhooks.message());
      const { posts, send } = notingSender();
      const calls: Promise<unknown>[] = [];
      const receiveAtOnce: QueueSender = async (sent) => {
        webhooks.clock.now += 60_000;
        const received = sent.map((one) => v.parse(DeliveryMessage, one.message));
        calls.push(...received.map((one) => deliverWebhook(process, one)));
        await turn();
      };
      const table = interceptTable(webhooks.table, async (request, { input }) => {
        const answer = await request();
        // The pause ends after the worker has parked the attempt.
        if (/"sk":"P#/.test(JSON.stringify(input))) {
          const { organization } = webhooks;
          await updateWebhook(webhooks, organization, message.webhookId, { active: true }, () => {});
        }
        return answer;
      });
      const queues = new Map(deliveryQueues.map((name) => [name, receiveAtOnce]));
      const process = { ...webhooks.createContainer(), table, queues, sender: send };
      await deliverWebhook(process, message);
      // Each call may send further messages.
      for (const call of calls) await call;
      expect(posts).toHaveLength(1);
    },
  );

  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('is not made again by any message of a delivery that is %s', async (state, outcome) => {
    const message = await webhooks.message();
    await webhooks.attemptAll(message, notingSender(outcome).send);
    expect(await webhooks.delivery(message)).toMatchObject({ state, listed: false });
    const before = await webhooks.dump();
    for (const { message } of webhooks.queue.sent.slice())
      expect(await webhooks.attempt(message, {}, webhooks.createContainer())).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('posts the same event whether its message has it or not, and reads it only if not', async () => {
    await webhooks.register();
    const [message, withoutContent] = [await webhooks.message(), webhooks.queue.sent[1]?.message as DeliveryMessage];
    const deliver = async (sent: DeliveryMessage) => {
      const read: string[] = [];
      const table = interceptTable(webhooks.table, (request, { input }) => {
        read.push(JSON.stringify(input));
        return request();
      });
      const { posts, send } = notingSender();
      await webhooks.deliver(sent, send, { ...webhooks.createContainer(), table });
      const event = JSON.stringify(keys.event(webhooks.organization, ulidOf(message.eventId as string)));
      return { data: JSON.parse(posts[0]?.body ?? '{}').data, hasRead: read.join().includes(event) };
    };
    const content = webhooks.queue.contents[1];
    const data = JSON.parse(content?.data ?? '');
    expect(await deliver({ ...message, content })).toEqual({ data, hasRead: false });
    expect(await deliver(withoutContent)).toEqual({ data, hasRead: true });
  });

  it('reads the event if its message has it in a form of a later version', async () => {
    const { dueAt, ...message } = await webhooks.message();
    const sent = { ...message, due: dueAt, content: { event: 'task.of_a_later_version', data: '{}' } };
    const { posts, send } = notingSender();
    await webhooks.deliver(v.parse(DeliveryMessage, sent), send);
    expect(posts).toMatchObject([{ body: expect.stringContaining('"event":"task.created"') }]);
  });

  it('is not made for an event that does not exist', async () => {
    const message = { ...(await webhooks.message()), eventId: 'ev_01K00000000000000000000000' };
    const before = await webhooks.dump();
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('that is a retry is not made before it is due, and is made then', async () => {
    const retry = await webhooks.retry();
    webhooks.clock.now = Date.parse(retry.dueAt) - 1;
    const sent = [{ to: 'firstRetry', message: retry, delaySeconds: 1 }];
    expect(await webhooks.attempt(retry)).toEqual({ posts: 0, sent });
    webhooks.clock.now += 1;
    expect(await webhooks.attempt(retry)).toEqual({ posts: 1, sent: [] });
  });

  it('that is a retry is made after its step, if the clock was an hour ahead', async () => {
    webhooks.clock.now += 3_600_000;
    const retry = await webhooks.retry();
    webhooks.clock.now -= 3_600_000;
    expect(await webhooks.attempt(retry)).toEqual({ posts: 1, sent: [] });
    expect(await webhooks.attempt(retry)).toEqual({ posts: 0, sent: [] });
  });

  it('that is a retry to a slow receiver waits for its step once, if the clock was an hour ahead', async () => {
    webhooks.clock.now += 3_600_000;
    const retry = await webhooks.retry();
    webhooks.clock.now -= 3_600_000;
    await markWebhookSlow(webhooks, webhooks.organization, retry.webhookId);
    const { sent } = await webhooks.attempt(retry);
    expect(sent).toMatchObject([{ to: 'slowDeliveries', delaySeconds: 0 }]);
  });

  it('that is the first is made at once, though the clock is behind that of the change', async () => {
    const message = await webhooks.message();
    webhooks.clock.now -= 1_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });
});

describe('an attempt that two containers make at once', () => {
  it.each([0, 90_000, 3_600_000])('is one row, begun %i ms after it was due', async (lateMs) => {
    const message = await webhooks.message();
    webhooks.clock.now = startTime + lateMs;
    const { letGo } = await beginElsewhere(message);
    webhooks.clock.now += 1_000;
    await webhooks.attempt(message, { httpStatus: 202 });
    expect(await webhooks.history(message.webhookId)).toMatchObject([{ httpStatus: 202 }]);
    await letGo();
    expect(await webhooks.history(message.webhookId)).toMatchObject([{ attempt: 1 }]);
  });

  it.each([
    ['the other is late, and waits', [59_999], [60_000, 89_999], 90_000],
    ['a late worker was lost and another began a minute later', [90_000, 149_999], [150_000], 180_000],
  ])('is one row where %s', async (_, begins, waits, until) => {
    const message = await webhooks.message();
    let last: Awaited<ReturnType<typeof beginElsewhere>> | undefined;
    for (const lateMs of begins) {
      webhooks.clock.now = startTime + lateMs;
      last = await beginElsewhere(message);
    }
    for (const lateMs of waits) {
      webhooks.clock.now = startTime + lateMs;
      const sent = [{ to: 'deliveries', message, delaySeconds: Math.ceil((until - lateMs) / 1000) }];
      expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent });
    }
    await last?.letGo();
    webhooks.clock.now = startTime + until;
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  it.each([
    ['delivered', 'the other one failed', failed, {}, 0],
    ['retried once', 'both failed', failed, failed, 1],
    ['retried once', 'the last one failed', {}, failed, 1],
  ])('is %s where %s', async (_, __, first, last, retries) => {
    const message = await webhooks.message();
    const { letGo } = await beginElsewhere(message, last);
    await webhooks.attempt(message, first);
    webhooks.clock.now += 5_000;
    await letGo();
    webhooks.clock.now += 300_000;
    let posts = 0;
    for (const { message } of webhooks.queue.sent.filter(({ message }) => message.attempt === 2))
      posts += (await webhooks.attempt(message, {}, webhooks.createContainer())).posts;
    expect(posts).toBe(retries);
    expect(await webhooks.delivery(message)).toEqual({ state: 'delivered', attempt: 1 + retries, listed: false });
    expect(await webhooks.history(message.webhookId)).toHaveLength(1 + retries);
  });

  it('drops the retry that was replaced, with its item, and leaves the other one listed', async () => {
    const message = await webhooks.message();
    const { letGo } = await beginElsewhere(message, failed);
    const replaced = await webhooks.retry(message);
    webhooks.clock.now = Date.parse(replaced.dueAt);
    await updateWebhook(webhooks, webhooks.organization, message.webhookId, { active: false }, () => {});
    await webhooks.attempt(replaced);
    await letGo();
    expect(await webhooks.attempt({ ...replaced, parked: true })).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'retrying', attempt: 2, listed: true });
    expect(Object.keys(await webhooks.dump()).filter((key) => key.includes(' P#'))).toEqual([]);
  });
});

describe('an attempt for a webhook that was deleted', () => {
  it('is not made, and leaves nothing behind', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId, () => {});
    const before = await webhooks.dump();
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('while it is under way ends well and brings nothing of the webhook back', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    const { letGo } = await webhooks.beginAttempt(message);
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId, () => {});
    await letGo();
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'delivered' });
    expect(await listWebhooks(webhooks, webhooks.organization)).toEqual([]);
    expect(Object.keys(await webhooks.dump()).filter((key) => /#(W|WS|S)(#| )/.test(key))).toEqual([]);
    await expect(webhooks.history(message.webhookId)).rejects.toMatchObject({ code: 'not_found' });
  });
});
