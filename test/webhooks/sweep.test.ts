import { beforeEach, describe, expect, it } from 'vitest';
import { failed, loseWorker, notingSender, type Office, opening, openOffices } from './office.ts';

const minuteMs = 60_000;
const allTime = Date.parse('9999-12-31T23:59:59.999Z');
let office: Office;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  office = (await openOffices())();
});

/** The messages that a sweep puts in the queue. */
async function swept(until = office.clock()) {
  const before = office.queue.sent.length;
  const { woken } = await office.deliveries.sweep({ until });
  const sent = office.queue.sent.slice(before);
  expect(woken).toBe(sent.length);
  return sent;
}

describe('the sweep', () => {
  it('wakes nothing where nothing waits', async () => {
    expect(await swept()).toEqual([]);
    expect(await swept(allTime)).toEqual([]);
  });

  it('wakes a delivery whose wake-up was lost for a minute, and none before', async () => {
    const message = await office.message();
    office.clock.now = opening + minuteMs - 1;
    expect(await swept()).toEqual([]);
    office.clock.now = opening + minuteMs;
    expect(await swept()).toEqual([{ to: 'deliveries', message, delaySeconds: 0 }]);
  });

  it('wakes what a crash between put and send left behind', async () => {
    const { id } = await office.register();
    office.queue.failsOnce = true;
    await expect(office.publish()).rejects.toThrow();
    office.clock.now = opening + minuteMs;
    const [woken] = await swept();
    expect(woken?.message.webhookId).toBe(id);
    const { posts, send } = notingSender();
    await office.deliveries.attempt(woken?.message as NonNullable<typeof woken>['message'], send);
    expect(posts).toHaveLength(1);
  });

  it('wakes once when it comes twice in a row, and again five minutes later', async () => {
    await office.message();
    office.clock.now = opening + minuteMs;
    expect(await swept()).toHaveLength(1);
    expect(await swept()).toEqual([]);
    office.clock.now = opening + 6 * minuteMs - 1;
    expect(await swept()).toEqual([]);
    office.clock.now = opening + 6 * minuteMs;
    expect(await swept()).toHaveLength(1);
  });

  it('wakes each once when two sweeps meet', async () => {
    await office.message();
    for (let more = 0; more < 9; more++) await office.publish();
    office.clock.now = opening + minuteMs;
    const before = office.queue.sent.length;
    const [one, other] = await Promise.all([
      office.deliveries.sweep({ until: office.clock() }),
      office.deliveries.sweep({ until: office.clock() }),
    ]);
    const sent = office.queue.sent.slice(before);
    expect(one.woken + other.woken).toBe(10);
    expect(new Set(sent.map(({ message }) => message.deliveryId)).size).toBe(10);
  });

  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('leaves alone what is %s, for all time', async (_, outcome) => {
    const message = await office.message();
    await office.attemptAll(message, notingSender(outcome).send);
    expect(await swept(allTime)).toEqual([]);
  });

  it('leaves alone what was skipped', async () => {
    const message = await office.message();
    await office.webhooks.delete(office.organization, message.webhookId);
    await office.deliveries.attempt(message, notingSender().send);
    expect(await swept(allTime)).toEqual([]);
  });

  it('wakes all that waits when it is given all time to come, also a moment after it has', async () => {
    await office.message();
    await office.publish();
    expect(await swept(allTime)).toHaveLength(2);
    expect(await swept(allTime)).toHaveLength(2);
  });

  it('changes nothing of a delivery but when it is swept next', async () => {
    const message = await office.message();
    const before = await office.dump();
    office.clock.now = opening + minuteMs;
    await swept();
    const after = await office.dump();
    const [key = ''] = Object.keys(before).filter((one) => one.includes(' D#'));
    const moved = { ...(before[key] as object), dueAt: '2026-03-01T12:06:00.000Z' };
    expect(after).toEqual({ ...before, [key]: moved });
    expect(await office.delivery(message)).toMatchObject({ state: 'pending', attempt: 1 });
  });

  it('loses nothing when the queue is away: it wakes it five minutes later', async () => {
    const message = await office.message();
    office.clock.now = opening + minuteMs;
    office.queue.failsOnce = true;
    await expect(office.deliveries.sweep({ until: office.clock() })).rejects.toThrow('The queue is away.');
    expect(await office.delivery(message)).toMatchObject({ state: 'pending', dueAt: '2026-03-01T12:06:00.000Z' });
    office.clock.now = opening + 6 * minuteMs;
    expect(await swept()).toHaveLength(1);
  });

  it('wakes every one of forty', async () => {
    await office.register();
    await Promise.all(Array.from({ length: 40 }, () => office.publish()));
    office.clock.now = opening + minuteMs;
    const sent = await swept();
    expect(new Set(sent.map(({ message }) => message.deliveryId)).size).toBe(40);
  });
});

describe('a delivery that a worker has in hand', () => {
  it('is woken when it is overdue, a minute after its time', async () => {
    const message = await office.message();
    await loseWorker(office, message);
    office.clock.now = opening + minuteMs - 1;
    expect(await swept()).toEqual([]);
    office.clock.now = opening + minuteMs;
    expect(await swept()).toEqual([{ to: 'deliveries', message, delaySeconds: 0 }]);
  });

  it('and was taken just before it was overdue is woken for the end of the hold', async () => {
    const message = await office.message();
    office.clock.now = opening + minuteMs - 1_000;
    await loseWorker(office, message);
    office.clock.now = opening + minuteMs;
    expect(await swept()).toEqual([{ to: 'deliveries', message, delaySeconds: 19 }]);
  });

  it('is woken for the end of the hold by a sweep that reaches ahead', async () => {
    const message = await office.message();
    await loseWorker(office, message);
    office.clock.now = opening + 5_500;
    expect(await swept(allTime)).toEqual([{ to: 'deliveries', message, delaySeconds: 15 }]);
  });

  it('is not listed again by a sweep that meets its end', async () => {
    const message = await office.message();
    office.clock.now = opening + minuteMs;
    const overdue = await Array.fromAsync(office.store.due('2026-03-01T12:01:00.000Z'));
    expect(overdue).toHaveLength(1);
    await office.deliveries.attempt(message, notingSender().send);
    const [listed] = overdue;
    if (listed) expect(await office.store.postpone(listed, '2026-03-01T12:06:00.000Z')).toBeUndefined();
    expect(await office.delivery(message)).not.toHaveProperty('dueAt');
  });
});
