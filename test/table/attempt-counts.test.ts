import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidFrom, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import { closeAttemptCounts, closedAfterMs, isTurnToCount, readAttemptCounts } from '../../lib/table/attempt-counts.ts';
import { attemptOrder } from '../../lib/table/attempt-items.ts';
import { insertAttempt, placeOf } from '../../lib/table/attempt-log.ts';
import type { TableContext } from '../../lib/table/client.ts';
import { readAttemptPage } from '../../lib/table/history.ts';
import { firstKeptDay, historyExpiry, utcDays } from '../../lib/table/history-days.ts';
import { keys } from '../../lib/table/keys.ts';
import { everything, listingWrites } from '../../lib/table/listing.ts';
import { getItem } from '../../lib/table/reads.ts';
import { transact } from '../../lib/table/transact.ts';
import { fc } from '../seeded.ts';
import { attemptFor, newMessage } from './attempt-seed.ts';
import { openBoard } from './board.ts';
import { meter } from './capacity.ts';
import { watchedTable } from './watched-table.ts';

const { table } = await openBoard();
const { costOf } = meter(table);
const context = { table, batchers: {} };
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** An attempt stands in the log for so long at most when its row is written. */
const writtenWithinMs = 90_000;
const opening = Date.parse('2026-03-01T12:00:00.000Z');
/** How old the webhook is, and so its oldest attempt at most. */
const ageMs = 2 * dayMs;
const webhookId = `wh_${ulidFrom(opening - ageMs, new Uint8Array(10))}`;
let organization: Organization;
let organizations = 0;
/** What the history must have: the id of each attempt and what orders it, whenever it was. */
let written: { order: string; id: string; time: number }[];
let now: number;

beforeEach(restart);

function restart(): void {
  organization = `own-${++organizations}-` as Organization;
  written = [];
  now = opening;
}

/** Bytes that no other attempt has. */
const nextBytes = () => {
  const bytes = new Uint8Array(10);
  new DataView(bytes.buffer).setUint32(4, written.length);
  return bytes;
};

/** Writes the row of an attempt that stood in the log so long ago. */
async function attempt(agoMs = 0, time = now - agoMs): Promise<void> {
  const deliveryId = `dlv_${ulidFrom(time, nextBytes())}`;
  const message = newMessage(organization, { webhookId, deliveryId, dueAt: timestamp(time) });
  written.push({ order: attemptOrder(placeOf(message)), id: deliveryId, time });
  await insertAttempt(context, attemptFor(message));
}

/** Writes the row and the count of an attempt as the version before the attempt log did, at its end. */
async function oldAttempt(time: number): Promise<void> {
  const ulid = ulidFrom(time, nextBytes());
  const { pk, sk, ...record } = {
    pk: '',
    sk: '',
    ...attemptFor(newMessage(organization, { webhookId, deliveryId: `dlv_${ulid}`, dueAt: timestamp(time) })).record,
  };
  written.push({ order: ulid, id: record.id, time });
  const list = keys.attemptScope(organization, ulidOf(webhookId));
  const membership = { ulid, facet: everything, lists: [list], entry: record };
  await transact(table, listingWrites(undefined, membership, { periods: utcDays, expiresAt: historyExpiry(time) }));
}

const close = () => closeAttemptCounts(context, organization, webhookId, now);
const read = (page: { limit: number; offset: number }) =>
  readAttemptPage({ table, clock: () => now }, organization, webhookId, page);
const total = async (of: TableContext = context) => {
  const { days, open } = await readAttemptCounts(of, organization, webhookId, now);
  return Object.values(days).reduce((sum, number) => sum + number, open);
};
const closed = async () => (await getItem(table, keys.closedAttempts(organization, ulidOf(webhookId)))) ?? {};
/** The number that is kept of each day. */
const closedDays = async () => Object.fromEntries(Object.entries(await closed()).filter(([name]) => /^\d/.test(name)));

/** The ids of the attempts that the history has now, newest first. */
const expected = () =>
  written
    .filter(({ time }) => timestamp(time) >= firstKeptDay(now))
    .sort((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ id }) => id);

/** What is wrong with the pages of the history, of one size and from one offset on. */
async function differences(limit: number, offset: number): Promise<object[]> {
  const wanted = expected();
  const page = { items: wanted.slice(offset, offset + limit), total: wanted.length };
  const { items, total } = await read({ limit, offset });
  const found = { items: items.map(({ id }: DeliveryRecord) => id), total };
  return JSON.stringify(found) === JSON.stringify(page) ? [] : [{ limit, offset, found, page }];
}

type Step = { is: 'wait'; ms: number } | { is: 'attempts'; agoMs: number[] } | { is: 'close'; times: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    is: fc.constant('wait' as const),
    ms: fc.oneof(fc.nat(3 * minuteMs), fc.nat(dayMs), fc.nat(30 * dayMs)),
  }),
  fc.record({
    is: fc.constant('attempts' as const),
    agoMs: fc.array(fc.nat(writtenWithinMs), { minLength: 1, maxLength: 6 }),
  }),
  fc.record({ is: fc.constant('close' as const), times: fc.integer({ min: 1, max: 3 }) }),
);

describe('the history of a webhook', () => {
  it('is that of a plain list, through attempts, closes, waits and the days that leave it, from any offset on', async () => {
    const old = fc.array(fc.nat(ageMs), { maxLength: 8 });
    const steps = fc.array(step, { minLength: 10, maxLength: 20 });
    const pages = fc.array(fc.record({ limit: fc.integer({ min: 1, max: 20 }), offset: fc.nat(40) }), { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(old, steps, pages, async (before, all, asked) => {
        restart();
        await Promise.all(before.map((agoMs) => oldAttempt(now - agoMs)));
        for (const one of all) {
          if (one.is === 'wait') now += one.ms;
          if (one.is === 'attempts') await Promise.all(one.agoMs.map((agoMs) => attempt(agoMs)));
          if (one.is === 'close') await Promise.all([...Array.from({ length: one.times }, close), attempt()]);
          expect(await total()).toBe(expected().length);
        }
        for (const { limit, offset } of [{ limit: 100, offset: 0 }, ...asked])
          expect(await differences(limit, offset)).toEqual([]);
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });

  it('has those of the version before among the others, by the moments of both', async () => {
    await oldAttempt(now - 2 * minuteMs);
    await attempt(minuteMs + 1_000);
    await oldAttempt(now - minuteMs);
    await attempt();
    expect(await differences(2, 1)).toEqual([]);
    now += dayMs;
    await attempt();
    await close();
    for (const offset of [0, 1, 2, 3, 4, 5]) expect(await differences(2, offset)).toEqual([]);
  });
});

describe('a close', () => {
  it('counts what is two minutes old and nothing that may still be written', async () => {
    await attempt(closedAfterMs + 1);
    await attempt(closedAfterMs - 1);
    await close();
    expect(await closedDays()).toEqual({ '2026-03-01': 1 });
    expect(await total()).toBe(2);
  });

  it('goes on where the one before has ended, and counts nothing twice', async () => {
    for (let nth = 0; nth < 4; nth++) {
      await attempt();
      now += 5 * minuteMs;
      await close();
      await close();
    }
    expect(await total()).toBe(4);
    expect(await closedDays()).toEqual({ '2026-03-01': 4 });
  });

  it('reads each day since the webhook was registered, and no more', async () => {
    await attempt();
    // The item, three days and a minute for clocks that differ, the write.
    now += closedAfterMs + 1;
    expect(await costOf(close)).toMatchObject({ requests: 1 + 3 + 1 });
    expect(await closedDays()).toEqual({ '2026-03-01': 1 });
  });

  it.each(['first', 'second'])('is one of several at once, when it is the %s', async (which) => {
    await attempt();
    now += dayMs;
    if (which === 'second') {
      await close();
      await attempt();
      now += dayMs;
    }
    const met = Promise.withResolvers<void>();
    let writers = 0;
    const watched = watchedTable(table, async ({ writes }) => {
      if (!writes) return;
      if (++writers === 3) met.resolve();
      await met.promise;
    });
    await Promise.all([1, 2, 3].map(() => closeAttemptCounts(watched, organization, webhookId, now)));
    expect(writers).toBe(3);
    expect(await closedDays()).toEqual({ '2026-03-01': 1, ...(which === 'second' && { '2026-03-02': 1 }) });
    expect(await total()).toBe(expected().length);
  });

  it('between the two looks of a read changes nothing of what that reads', async () => {
    await attempt();
    now += 5 * minuteMs;
    await attempt();
    const watched = watchedTable(table, ({ nth }) => (nth === 1 ? close() : undefined));
    expect(await total(watched)).toBe(2);
    expect(await closedDays()).toEqual({ '2026-03-01': 1 });
  });

  it('has days that leave the history, and leaves them out with the next one', async () => {
    await attempt();
    now += dayMs;
    await attempt();
    now += dayMs;
    await close();
    now += 89 * dayMs;
    expect(await total()).toBe(1);
    expect(await closedDays()).toEqual({ '2026-03-01': 1, '2026-03-02': 1 });
    await close();
    expect(await closedDays()).toEqual({ '2026-03-02': 1 });
    expect(await total()).toBe(1);
  });

  it('expires when the last day that it has counted leaves the history', async () => {
    await attempt();
    now += dayMs;
    await close();
    const { expiresAt } = (await closed()) as { expiresAt: number };
    expect(firstKeptDay(expiresAt * 1000 - 1)).toBe('2026-03-02');
    expect(firstKeptDay(expiresAt * 1000)).toBe('2026-03-03');
  });
});

it('the number of attempts is read by two requests, however many were counted before', async () => {
  for (let nth = 0; nth < 20; nth++) await attempt(nth);
  now += dayMs;
  await close();
  await attempt();
  expect(await costOf(() => readAttemptCounts(context, organization, webhookId, now))).toMatchObject({
    requests: 2,
    rcu: 2,
  });
});

it('it is the turn of one delivery of 256 to have them counted', () => {
  const letters = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
  const ends = letters.flatMap((last) => letters.map((letter) => `dlv_${(letter + last).padStart(26, 'A')}`));
  expect(ends.filter(isTurnToCount)).toHaveLength(ends.length / 256);
});
