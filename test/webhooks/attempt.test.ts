import { beforeEach, describe, expect, it } from 'vitest';
import { deleteWebhook, listWebhooks } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, type Office, opening, openOffices } from './office.ts';

const newOffice = await openOffices();
let office: Office;

beforeEach(() => {
  office = newOffice();
});

/** Has another container begin an attempt, which posts until it is let go. */
async function beginElsewhere(message: Awaited<ReturnType<Office['message']>>, outcome = {}) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  const posting = Promise.withResolvers<void>();
  const { send } = notingSender(outcome, () => {
    posting.resolve();
    return promise;
  });
  const ended = office.deliver(message, send, office.createContainer());
  await posting.promise;
  return { letGo, ended };
}

describe('an attempt', () => {
  it('is made once by ten of a container that are asked for it at once', async () => {
    const message = await office.message();
    const { posts, send } = notingSender();
    await Promise.all(Array.from({ length: 10 }, () => office.deliver(message, send)));
    expect(posts).toHaveLength(1);
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });

  it('that fails for a fault of ours fails for all of them, so that none of their messages is deleted', async () => {
    const message = await office.message({ secret: 'a secret' });
    office.removeKey();
    const { send } = notingSender();
    const ended = await Promise.allSettled([1, 2, 3].map(() => office.deliver(message, send)));
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('is not made again by any message of a delivery that is %s', async (state, outcome) => {
    const message = await office.message();
    await office.attemptAll(message, notingSender(outcome).send);
    expect(await office.delivery(message)).toMatchObject({ state });
    const before = await office.dump();
    const sent = office.queue.sent.length;
    const { posts, send } = notingSender();
    for (const { message } of office.queue.sent.slice()) await office.deliver(message, send, office.createContainer());
    expect(posts).toEqual([]);
    expect(office.queue.sent).toHaveLength(sent);
    expect(await office.dump()).toEqual(before);
  });

  it('is not made of an event that there is not', async () => {
    const message = await office.message();
    const before = await office.dump();
    const { posts, send } = notingSender();
    await office.deliver({ ...message, eventId: 'ev_01K00000000000000000000000' }, send);
    expect(posts).toEqual([]);
    expect(await office.dump()).toEqual(before);
  });

  it('that is a retry is not made before it is due, and is made then', async () => {
    await office.deliver(await office.message(), notingSender(failed).send);
    const { message } = office.queue.sent.at(-1) as (typeof office.queue.sent)[number];
    const { posts, send } = notingSender();
    office.clock.now = Date.parse(message.dueAt) - 1;
    await office.deliver(message, send);
    expect(posts).toEqual([]);
    expect(office.queue.sent.at(-1)).toEqual({ to: 'firstRetry', message, delaySeconds: 1 });
    office.clock.now += 1;
    await office.deliver(message, send);
    expect(posts).toHaveLength(1);
  });

  it('that is the first is made at once, though the clock is behind that of the change', async () => {
    const message = await office.message();
    office.clock.now -= 1_000;
    const { posts, send } = notingSender();
    await office.deliver(message, send);
    expect(posts).toHaveLength(1);
  });

  it('is made again after a lost worker, when the message comes again', async () => {
    const message = await office.message();
    await beginElsewhere(message);
    office.clock.now = opening + 180_000;
    const { posts, send } = notingSender();
    await office.deliver(message, send);
    expect(posts).toHaveLength(1);
    expect(await office.delivery(message)).toMatchObject({ state: 'delivered' });
  });
});

describe('an attempt that two containers make at once', () => {
  it.each([0, 90_000, 3_600_000])('is one row, begun %i ms after it was due', async (lateMs) => {
    const message = await office.message();
    office.clock.now = opening + lateMs;
    const { letGo, ended } = await beginElsewhere(message);
    office.clock.now += 1_000;
    await office.deliver(message, notingSender({ httpStatus: 202 }).send);
    expect(await office.history(message.webhookId)).toMatchObject([{ httpStatus: 202 }]);
    letGo();
    await ended;
    expect(await office.history(message.webhookId)).toMatchObject([{ attempt: 1 }]);
  });

  it('is one row where only one of them is late: that one waits until the other has ended', async () => {
    const message = await office.message();
    office.clock.now = opening + 59_999;
    const { letGo, ended } = await beginElsewhere(message);
    const { posts, send } = notingSender();
    for (const lateMs of [60_000, 89_999]) {
      office.clock.now = opening + lateMs;
      await office.deliver(message, send);
      expect(office.queue.sent.at(-1)).toEqual({
        to: 'deliveries',
        message,
        delaySeconds: Math.ceil((90_000 - lateMs) / 1000),
      });
    }
    letGo();
    await ended;
    office.clock.now = opening + 90_000;
    await office.deliver(message, send);
    expect(posts).toEqual([]);
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });

  it('is one row where a worker that was late began a minute ago', async () => {
    const message = await office.message();
    const begun = opening + 90_000;
    office.clock.now = begun;
    await beginElsewhere(message);
    office.clock.now = begun + 59_999;
    const { letGo, ended } = await beginElsewhere(message);
    const { posts, send } = notingSender();
    office.clock.now = begun + 60_000;
    await office.deliver(message, send);
    expect(office.queue.sent.at(-1)).toEqual({ to: 'deliveries', message, delaySeconds: 30 });
    letGo();
    await ended;
    office.clock.now = begun + 90_000;
    await office.deliver(message, send);
    expect(posts).toEqual([]);
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });

  it.each([
    ['delivered', 'the other one failed', failed, {}, 0],
    ['retried once', 'both failed', failed, failed, 1],
    ['retried once', 'the last one failed', {}, failed, 1],
  ])('is %s where %s', async (_, __, first, last, retries) => {
    const message = await office.message();
    const { letGo, ended } = await beginElsewhere(message, last);
    await office.deliver(message, notingSender(first).send);
    office.clock.now += 5_000;
    letGo();
    await ended;
    const { posts, send } = notingSender();
    const retried = office.queue.sent.filter(({ message }) => message.attempt === 2);
    office.clock.now += 300_000;
    for (const { message } of retried) await office.deliver(message, send, office.createContainer());
    expect(posts).toHaveLength(retries);
    expect(await office.delivery(message)).toEqual({ state: 'delivered', attempt: 1 + retries, listed: false });
    expect(await office.history(message.webhookId)).toHaveLength(1 + retries);
  });
});

describe('an attempt for a webhook that was deleted', () => {
  it('is not made, and leaves nothing behind', async () => {
    const message = await office.message({ secret: 'a secret' });
    await deleteWebhook(office, office.organization, message.webhookId);
    const before = await office.dump();
    const { posts, send } = notingSender();
    await office.deliver(message, send);
    expect(posts).toEqual([]);
    expect(await office.dump()).toEqual(before);
  });

  it('is not made where it is a retry, and is taken off the sweeper’s list', async () => {
    const message = await office.message();
    await office.deliver(message, notingSender(failed).send);
    await deleteWebhook(office, office.organization, message.webhookId);
    office.clock.now += 300_000;
    const { posts, send } = notingSender();
    await office.deliver(office.queue.sent.at(-1)?.message as typeof message, send);
    expect(posts).toEqual([]);
    expect(await office.delivery(message)).toMatchObject({ state: 'retrying', listed: false });
  });

  it('while it is under way ends well and brings nothing of the webhook back', async () => {
    const message = await office.message({ secret: 'a secret' });
    const { send } = notingSender({}, () => deleteWebhook(office, office.organization, message.webhookId));
    await office.deliver(message, send);
    expect(await office.delivery(message)).toMatchObject({ state: 'delivered' });
    expect(await listWebhooks(office, office.organization)).toEqual([]);
    expect(Object.keys(await office.dump()).filter((key) => /#(W|WS|S)(#| )/.test(key))).toEqual([]);
    await expect(office.history(message.webhookId)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an attempt whose secret cannot be had', () => {
  it('is none: the message comes again, nothing is posted and nothing recorded', async () => {
    const message = await office.message({ secret: 'a secret' });
    office.removeKey();
    const { posts, send } = notingSender();
    await expect(office.deliver(message, send)).rejects.toThrow('no key for webhook secrets');
    expect(posts).toEqual([]);
    expect(await office.history(message.webhookId)).toEqual([]);
    expect(await office.delivery(message)).toEqual({ state: 'pending', attempt: 1 });
  });

  it('is made, signed, when the message comes again', async () => {
    const message = await office.message({ secret: 'a secret' });
    office.removeKey();
    const { posts, send } = notingSender();
    await expect(office.deliver(message, send)).rejects.toThrow();
    office.restoreKey();
    office.clock.now += 180_000;
    await office.deliver(message, send);
    expect(posts).toHaveLength(1);
    expect(posts[0]?.headers).toHaveProperty('X-Service-Signature');
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });
});
