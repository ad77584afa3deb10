import { beforeEach, describe, expect, it } from 'vitest';
import { failed, notingSender, type Office, opening, openOffices } from './office.ts';

const newOffice = await openOffices();
let office: Office;

beforeEach(() => {
  office = newOffice();
});

/** A worker that has taken an attempt in hand and is still posting, until it is let go. */
async function hangingWorker(message: Awaited<ReturnType<Office['message']>>) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  const posting = Promise.withResolvers<void>();
  const sender = notingSender({}, () => {
    posting.resolve();
    return promise;
  });
  const ended = office.deliveries.attempt(message, sender.send);
  await posting.promise;
  return { letGo, ended };
}

describe('an attempt', () => {
  it('is made once by ten who are asked for it at once', async () => {
    const message = await office.message();
    const { posts, send } = notingSender();
    await Promise.all(Array.from({ length: 10 }, () => office.deliveries.attempt(message, send)));
    expect(posts).toHaveLength(1);
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });

  it('is not made for a message of another number', async () => {
    const message = await office.message();
    const { posts, send } = notingSender();
    const before = await office.dump();
    for (const attempt of [0, 2, 3]) await office.deliveries.attempt({ ...message, attempt }, send);
    expect(posts).toEqual([]);
    expect(await office.dump()).toEqual(before);
  });

  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('is not made of a delivery that is %s', async (state, outcome) => {
    const message = await office.message();
    await office.attemptAll(message, notingSender(outcome).send);
    expect(await office.delivery(message)).toMatchObject({ state });
    const before = await office.dump();
    const { posts, send } = notingSender();
    for (const attempt of [1, 2, 3, 4, 5]) await office.deliveries.attempt({ ...message, attempt }, send);
    expect(posts).toEqual([]);
    expect(await office.dump()).toEqual(before);
  });

  it('is not made of a delivery that there is not', async () => {
    const message = await office.message();
    const before = await office.dump();
    const { posts, send } = notingSender();
    await office.deliveries.attempt({ ...message, deliveryId: 'dlv_01K00000000000000000000000' }, send);
    expect(posts).toEqual([]);
    expect(await office.dump()).toEqual(before);
  });

  it('is not made before it is due, whatever the message says, and is made then', async () => {
    const message = await office.message();
    const { posts, send } = notingSender();
    office.clock.now = opening - 1;
    await office.deliveries.attempt({ ...message, dueAt: '2020-01-01T00:00:00.000Z' }, send);
    expect(posts).toEqual([]);
    office.clock.now = opening;
    await office.deliveries.attempt({ ...message, dueAt: '2099-01-01T00:00:00.000Z' }, send);
    expect(posts).toHaveLength(1);
  });

  it('is not made by another while one has it in hand, to the last millisecond of 20 s', async () => {
    const message = await office.message();
    const worker = await hangingWorker(message);
    const { posts, send } = notingSender();
    office.clock.now = opening + 19_999;
    await office.deliveries.attempt(message, send);
    expect(posts).toEqual([]);
    worker.letGo();
    await worker.ended;
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });

  it('is made by another once the hold of a lost worker has ended', async () => {
    const message = await office.message();
    await hangingWorker(message);
    office.clock.now = opening + 20_000;
    const { posts, send } = notingSender();
    await office.deliveries.attempt(message, send);
    expect(posts).toHaveLength(1);
    expect(await office.delivery(message)).toMatchObject({ state: 'delivered' });
  });

  it('is not recorded by a worker that comes back when another has made it', async () => {
    const message = await office.message();
    const worker = await hangingWorker(message);
    office.clock.now = opening + 20_000;
    await office.deliveries.attempt(message, notingSender({ httpStatus: 202 }).send);
    const before = await office.dump();
    worker.letGo();
    await expect(worker.ended).rejects.toThrow();
    expect(await office.dump()).toEqual(before);
    expect(await office.history(message.webhookId)).toMatchObject([{ httpStatus: 202 }]);
  });
});

describe('an attempt for a webhook that was deleted', () => {
  it('is not made; the delivery is skipped and says why', async () => {
    const message = await office.message({ secret: 'a secret' });
    await office.webhooks.delete(office.organization, message.webhookId);
    const { posts, send } = notingSender();
    await office.deliveries.attempt(message, send);
    expect(posts).toEqual([]);
    const delivery = await office.delivery(message);
    expect(delivery).toMatchObject({ state: 'skipped', reason: 'webhook_deleted' });
    for (const gone of ['due', 'dueAt', 'claim', 'leaseUntil']) expect(delivery).not.toHaveProperty(gone);
  });

  it('while it is under way ends well and brings nothing of the webhook back', async () => {
    const message = await office.message({ secret: 'a secret' });
    const { send } = notingSender({}, () => office.webhooks.delete(office.organization, message.webhookId));
    await office.deliveries.attempt(message, send);
    expect(await office.delivery(message)).toMatchObject({ state: 'delivered' });
    expect(await office.webhooks.list(office.organization)).toEqual([]);
    expect(Object.keys(await office.dump()).filter((key) => /#(W|WS|S)(#| )/.test(key))).toEqual([]);
    await expect(office.history(message.webhookId)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an attempt whose secret cannot be had', () => {
  it('is none: the message comes again, nothing is posted and nothing recorded', async () => {
    const message = await office.message({ secret: 'a secret' });
    office.secrets.away = true;
    const { posts, send } = notingSender();
    await expect(office.deliveries.attempt(message, send)).rejects.toThrow('The key is away.');
    expect(posts).toEqual([]);
    expect(await office.history(message.webhookId)).toEqual([]);
    expect(await office.delivery(message)).toMatchObject({ state: 'pending', attempt: 1 });
  });

  it('is made, signed, when the message comes again', async () => {
    const message = await office.message({ secret: 'a secret' });
    office.secrets.away = true;
    const { posts, send } = notingSender();
    await expect(office.deliveries.attempt(message, send)).rejects.toThrow();
    office.secrets.away = false;
    office.clock.now += 180_000;
    await office.deliveries.attempt(message, send);
    expect(posts).toHaveLength(1);
    expect(posts[0]?.headers).toHaveProperty('X-Service-Signature');
    expect(await office.history(message.webhookId)).toHaveLength(1);
  });
});
