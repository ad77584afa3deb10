import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import { type Claim, openDeliveryStore } from '../../lib/table/deliveries.ts';
import { type Delivery, deliveryKey } from '../../lib/table/delivery-items.ts';
import type { Overdue } from '../../lib/table/due.ts';
import { getItem } from '../../lib/table/reads.ts';
import { dumpOf } from '../table-dump.ts';
import { type Board, openBoard } from './board.ts';
import { scriptedTable } from './scripted-table.ts';

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
let board: Board;
let store: ReturnType<typeof openDeliveryStore>;
let organization: Organization;

beforeEach(async () => {
  board = await openBoard();
  organization = board.organization;
  store = openDeliveryStore(board.table);
});

const newDelivery = (fields: Partial<Delivery> = {}): Delivery => ({
  organization,
  webhookId: 'wh_01K00000000000000000000000',
  id: `dlv_${ulid(board.clock())}`,
  event: 'task.created',
  data: '{}',
  state: 'pending',
  attempt: 1,
  nextAttemptAt: at(0),
  ...fields,
});

const lease = (claim: string, from: number) => ({ claim, now: at(from), until: at(from + 20) });
const stored = (delivery: Delivery) => getItem(board.table, deliveryKey(delivery));

/** The deliveries that the sweeper's index lists up to a moment, by their keys. */
const due = async (until: string) => (await Array.fromAsync(store.due(until))).map(({ key }) => key.sk);

/** The delivery that a claim gave, if it gave it. */
const handOf = (claim: Claim) => (claim && 'claimed' in claim ? claim.claimed : undefined);

async function claimed(delivery = newDelivery()): Promise<Delivery> {
  await store.put(delivery, at(60));
  return handOf(await store.claim(delivery, 1, lease('mine', 0))) as Delivery;
}

const record = (delivery: Delivery): DeliveryRecord => ({
  id: delivery.id,
  deliveryId: delivery.id,
  attempt: 1,
  event: 'task.created',
  httpStatus: 204,
  durationMs: 5,
  deliveredAt: at(1),
  redelivery: false,
});

const attempted = (delivery: Delivery) => {
  const endedAt = Date.parse(at(1));
  return { record: record(delivery), endedAt, ulid: ulid(endedAt) };
};

describe('a put', () => {
  it('tells that the delivery is pending', async () => {
    expect(await store.put(newDelivery(), at(60))).toBe('pending');
  });

  it('of one that is there already writes nothing, and tells what has become of it', async () => {
    const delivery = await claimed();
    await store.end(delivery, { state: 'delivered' }, attempted(delivery));
    const before = await dumpOf(board.table, organization);
    expect(await store.put(newDelivery({ id: delivery.id }), at(60))).toBe('delivered');
    expect(await dumpOf(board.table, organization)).toEqual(before);
  });
});

describe('the list of what is due', () => {
  it('has every delivery, whatever letter its id ends in', async () => {
    const deliveries = [...letters].map((letter) => newDelivery({ id: `dlv_01K0000000000000000000000${letter}` }));
    await Promise.all(deliveries.map((delivery) => store.put(delivery, at(60))));
    const listed = await due(at(60));
    const missing = deliveries.filter((delivery) => !listed.includes(deliveryKey(delivery).sk));
    expect(missing.map(({ id }) => id.slice(-1)).join('')).toBe('');
    expect(listed).toHaveLength(32);
  });

  it('is read a page of each partition in turn, no more than is asked for, the oldest of a turn first', async () => {
    const pages = (nth: number) => ({
      Items: [{ pk: 'pk', sk: `D#${nth}`, dueAt: at(10 - nth) }],
      // The first turn's four pages have one more each.
      ...(nth < 4 && { LastEvaluatedKey: { pk: 'pk', sk: `D#${nth}` } }),
    });
    const { table, sent } = scriptedTable(pages);
    const overdue = openDeliveryStore(table).due(at(60));
    const turn = async () => {
      const listed: Overdue[] = [];
      while (listed.length < 4) listed.push((await overdue.next()).value as Overdue);
      return listed.map(({ key }) => key.sk);
    };

    expect(await turn()).toEqual(['D#3', 'D#2', 'D#1', 'D#0']);
    expect(sent).toHaveLength(4);
    expect(await turn()).toEqual(['D#7', 'D#6', 'D#5', 'D#4']);
    expect(sent.map(({ input }) => input.ExclusiveStartKey)).toEqual([
      ...Array(4).fill(undefined),
      ...[0, 1, 2, 3].map((nth) => ({ pk: 'pk', sk: `D#${nth}` })),
    ]);
    for (const { input } of sent) expect(input.Limit).toBe(100);
    expect(await overdue.next()).toMatchObject({ done: true });
  });

  it('is read from a moment on', async () => {
    const [early, late] = [newDelivery(), newDelivery()];
    await store.put(early, at(10));
    await store.put(late, at(20));
    const listed = (await Array.fromAsync(store.due(at(20), at(10.001)))).map(({ key }) => key.sk);
    expect(listed).toContain(deliveryKey(late).sk);
    expect(listed).not.toContain(deliveryKey(early).sk);
  });

  it('has nothing before its moment', async () => {
    await store.put(newDelivery(), at(60));
    expect(await due(at(59.999))).toEqual([]);
  });

  it('has a delivery in hand as if it were in nobody’s', async () => {
    const delivery = await claimed(newDelivery({ id: 'dlv_01K00000000000000000000000' }));
    expect(await due(at(59.999))).toEqual([]);
    expect(await due(at(60))).toEqual([deliveryKey(delivery).sk]);
  });

  it('has nothing that has ended', async () => {
    const delivered = await claimed(newDelivery({ id: 'dlv_01K00000000000000000000000' }));
    await store.end(delivered, { state: 'delivered' }, attempted(delivered));
    const skipped = await claimed(newDelivery({ id: 'dlv_01K00000000000000000000001' }));
    await store.skip(skipped, 'a reason');
    expect(await due('9999-12-31T23:59:59.999Z')).toEqual([]);
  });

  it('has a delivery later when it is postponed, which only one of several can do', async () => {
    const delivery = newDelivery({ id: 'dlv_01K00000000000000000000000' });
    await store.put(delivery, at(60));
    const [overdue] = await Array.fromAsync(store.due(at(60)));
    const moved = await Promise.all(
      Array.from({ length: 5 }, async () => overdue && (await store.postpone(overdue, at(360)))),
    );
    expect(moved.filter((one) => one !== undefined)).toEqual([delivery]);
    expect(await due(at(359))).toEqual([]);
    expect(await due(at(360))).toEqual([deliveryKey(delivery).sk]);
  });
});

describe('a claim', () => {
  it('is given to one of ten at once', async () => {
    const delivery = newDelivery();
    await store.put(delivery, at(60));
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => store.claim(delivery, 1, lease(`claim-${nth}`, 0))),
    );
    const [won, ...more] = claims.filter((claim) => claim !== undefined);
    expect(more).toEqual([]);
    expect(handOf(won)).toEqual({ ...delivery, claim: expect.stringMatching(/^claim-\d$/), leaseUntil: at(20) });
  });

  it('is given again when the hold has ended, and the first may no more say how it ended', async () => {
    const first = await claimed();
    expect(await store.claim(first, 1, lease('other', 19.999))).toBeUndefined();
    const second = handOf(await store.claim(first, 1, lease('other', 20)));
    expect(second?.claim).toBe('other');
    await expect(store.end(first, { state: 'exhausted' }, attempted(first))).rejects.toThrow();
    await store.skip(first, 'a reason');
    expect(await stored(first)).toMatchObject({ state: 'pending', claim: 'other' });
  });

  it('is told again to whoever has it, for its first answer may have been lost', async () => {
    const delivery = await claimed();
    expect(handOf(await store.claim(delivery, 1, lease('mine', 0)))).toEqual(delivery);
    expect(await store.claim(delivery, 1, lease('other', 0))).toBeUndefined();
  });

  it('before its time is told so, and takes nothing in hand', async () => {
    const delivery = newDelivery({ attempt: 2, state: 'retrying', nextAttemptAt: at(300) });
    await store.put(delivery, at(360));
    expect(await store.claim(delivery, 2, lease('mine', 299.999))).toEqual({ early: delivery });
    expect(await stored(delivery)).not.toHaveProperty('claim');
    expect(handOf(await store.claim(delivery, 2, lease('mine', 300)))).toMatchObject({ claim: 'mine' });
  });

  it('of another attempt than the next is given to nobody, early or not', async () => {
    const delivery = newDelivery({ attempt: 2, state: 'retrying', nextAttemptAt: at(300) });
    await store.put(delivery, at(360));
    for (const attempt of [1, 3])
      for (const seconds of [299, 300])
        expect(await store.claim(delivery, attempt, lease('mine', seconds))).toBeUndefined();
  });

  it('of a delivery that there is not makes none', async () => {
    expect(await store.claim(newDelivery(), 1, lease('mine', 0))).toBeUndefined();
    expect(Object.keys(await dumpOf(board.table, organization)).filter((key) => key.includes('#WD#'))).toEqual([]);
  });
});

describe('an end', () => {
  it('is recorded once, though it is told twice', async () => {
    const delivery = await claimed();
    await store.end(delivery, { state: 'delivered' }, attempted(delivery));
    await expect(store.end(delivery, { state: 'delivered' }, attempted(delivery))).rejects.toThrow();
    const page = { limit: 20, offset: 0 };
    expect((await store.history(organization, delivery.webhookId, page, Date.parse(at(1)))).total).toBe(1);
  });

  it('is read as the very record, without what the table adds', async () => {
    const delivery = await claimed();
    await store.end(delivery, { state: 'delivered' }, attempted(delivery));
    const page = { limit: 20, offset: 0 };
    const { items } = await store.history(organization, delivery.webhookId, page, Date.parse(at(1)));
    expect(items).toEqual([record(delivery)]);
  });

  it('that is none leads to the next attempt, which the sweeper sees when that is overdue', async () => {
    const delivery = await claimed(newDelivery({ id: 'dlv_01K00000000000000000000000' }));
    const next = { state: 'retrying', attempt: 2, nextAttemptAt: at(301), dueAt: at(361) } as const;
    await store.end(delivery, next, attempted(delivery));
    const { claim: _, leaseUntil: __, ...rest } = delivery;
    const { dueAt: ___, ...retrying } = next;
    expect(handOf(await store.claim(delivery, 2, lease('other', 301)))).toEqual({
      ...rest,
      ...retrying,
      claim: 'other',
      leaseUntil: at(321),
    });
    expect(await due(at(320.999))).toEqual([]);
  });

  it('that waits for its next attempt is listed for the sweeper then', async () => {
    const delivery = await claimed(newDelivery({ id: 'dlv_01K00000000000000000000000' }));
    const next = { state: 'retrying', attempt: 2, nextAttemptAt: at(301), dueAt: at(361) } as const;
    await store.end(delivery, next, attempted(delivery));
    expect(await due(at(360.999))).toEqual([]);
    expect(await due(at(361))).toEqual([deliveryKey(delivery).sk]);
  });

  it('does not make a webhook that there is not', async () => {
    const delivery = await claimed();
    await store.end(delivery, { state: 'delivered' }, attempted(delivery));
    expect(Object.keys(await dumpOf(board.table, organization)).filter((key) => key.includes('#W '))).toEqual([]);
  });
});
