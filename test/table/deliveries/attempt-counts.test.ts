import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import type { TableContext } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import {
  closeAttemptCounts,
  closedAfterMs,
  isTurnToCount,
  readAttemptCounts,
  readAttemptHours,
} from '../../../lib/table/deliveries/attempt-counts.ts';
import type { HourCounts } from '../../../lib/table/deliveries/attempt-hours.ts';
import { attemptOrder } from '../../../lib/table/deliveries/attempt-items.ts';
import { insertAttempt, placeOf } from '../../../lib/table/deliveries/attempt-log.ts';
import { readAttemptPage } from '../../../lib/table/deliveries/history.ts';
import { dayAfter, firstKeptDay, historyExpiry } from '../../../lib/table/lists/history-days.ts';
import { everything } from '../../../lib/table/lists/listing.ts';
import { countsFewerUnits } from '../../dynamodb-local/endpoint.ts';
import { fc } from '../../seeded.ts';
import { meter } from '../fixtures/capacity.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';
import { attemptFor, newMessage } from './attempt-seed.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const context = { table, batchers: {} };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The longest time from the place of an attempt to the write of its row. */
const writtenWithinMs = 90_000;
const opening = Date.parse('2026-03-01T12:00:00.000Z');
/** The age of the webhook, and the greatest age of an attempt. */
const ageMs = 2 * dayMs;
const webhookId = `wh_${ulidFrom(opening - ageMs, new Uint8Array(10))}`;
let organization: Organization;
/** All written attempts, also attempts that have left the history. */
let written: { order: string; id: string; time: number; isOld?: boolean; status: number }[];
let now: number;

beforeEach(restart);

function restart(): void {
  organization = newOrganization();
  written = [];
  now = opening;
}

/** Returns the bytes of a ULID that no other attempt has. */
const nextBytes = () => {
  const bytes = new Uint8Array(10);
  new DataView(bytes.buffer).setUint32(4, written.length);
  return bytes;
};

/** Writes the row of an attempt whose place is `agoMs` before now. */
async function attempt(agoMs = 0, { time = now - agoMs, status = 204 } = {}): Promise<void> {
  const deliveryId = `dlv_${ulidFrom(time, nextBytes())}`;
  const message = newMessage(organization, { webhookId, deliveryId, dueAt: timestamp(time) });
  written.push({ order: attemptOrder(placeOf(message)), id: deliveryId, time, status });
  const { record, ...rest } = attemptFor(message);
  await insertAttempt(context, { ...rest, record: { ...record, httpStatus: status } });
}

/** Writes the row and the count of an attempt as the version before the attempt log did. */
async function oldAttempt(time: number): Promise<void> {
  const ulid = ulidFrom(time, nextBytes());
  const { record } = attemptFor(
    newMessage(organization, { webhookId, deliveryId: `dlv_${ulid}`, dueAt: timestamp(time) }),
  );
  written.push({ order: ulid, id: record.id, time, isOld: true, status: 204 });
  const list = keys.attemptScope(organization, ulidOf(webhookId));
  const expiresAt = historyExpiry(time);
  const counter = {
    Key: { pk: list.counters, sk: `${timestamp(time).slice(0, 10)}#${written.length % 4}` },
    UpdateExpression: 'SET expiresAt = :expiresAt ADD #all :one',
    ExpressionAttributeNames: { '#all': everything },
    ExpressionAttributeValues: { ':expiresAt': expiresAt, ':one': 1 },
  };
  const Item = { ...record, ...keys.listRow(list, everything, ulid), expiresAt };
  await transact(table, [{ Put: { Item } }, { Update: counter }]);
}

const close = () => closeAttemptCounts(context, organization, webhookId, now);
const read = (page: { limit: number; offset: number }) =>
  readAttemptPage({ table, clock: () => now }, organization, webhookId, page);
const total = async (of: TableContext = context) => {
  const { days, open } = await readAttemptCounts(of, organization, webhookId, now);
  return Object.values(days).reduce((sum, number) => sum + number, open);
};
const closed = async () => (await getItem(table, keys.closedAttempts(organization, ulidOf(webhookId)))) ?? {};
/** Returns the stored number of attempts of each day. */
const closedDays = async () => Object.fromEntries(Object.entries(await closed()).filter(([name]) => /^\d/.test(name)));

const hours = () => readAttemptHours(context, organization, webhookId, now);
/** Returns the start of the hour that was some hours ago. */
const hourAgo = (hoursAgo: number) => timestamp((Math.floor(now / hourMs) - hoursAgo) * hourMs);
/** Removes the stored hours, as a version that knows only days does when it stores its numbers. */
const removeHours = () => {
  const Key = keys.closedAttempts(organization, ulidOf(webhookId));
  const names = { ExpressionAttributeNames: { '#hours': '#hours' } };
  return transact(table, [{ Update: { Key, UpdateExpression: 'REMOVE #hours', ...names } }]);
};

const statusClasses = { 0: 'none', 204: '2xx', 302: '3xx', 410: '4xx', 503: '5xx', 999: '5xx' } as const;

/** Returns the expected hours: the last 24, but none before the days of versions without the attempt log have ended. */
function expectedHours(): [string, HourCounts][] {
  const old = written.filter(({ isOld, time }) => isOld && timestamp(time) >= firstKeptDay(now));
  const lastOld = old.map(({ time }) => dayAfter(timestamp(time).slice(0, 10))).sort();
  const starts = Array.from({ length: 24 }, (_, at) => hourAgo(23 - at)).filter(
    (start) => start >= (lastOld.at(-1) ?? ''),
  );
  return starts.map((start) => {
    const counts: HourCounts = {};
    for (const { time, status, isOld } of written) {
      if (isOld || timestamp(Math.floor(time / hourMs) * hourMs) !== start) continue;
      const name = statusClasses[status as keyof typeof statusClasses];
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return [start, counts];
  });
}

/** Expects the hours of the current day, and no wrong one before them: the clock may have been ahead. */
async function expectHoursOfToday(): Promise<void> {
  const found = await hours();
  expect(found.length).toBeGreaterThan(new Date(now).getUTCHours());
  expect(found).toEqual(expectedHours().slice(-found.length));
}

/** Returns the ids of the attempts of the current history, newest first. */
const expected = () =>
  written
    .filter(({ time }) => timestamp(time) >= firstKeptDay(now))
    .sort((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ id }) => id);

/** Returns the page of the history and the expected page, if they differ. */
async function differences(limit: number, offset: number): Promise<object[]> {
  const wanted = expected();
  const page = { items: wanted.slice(offset, offset + limit), total: wanted.length };
  const { items, total } = await read({ limit, offset });
  const found = { items: items.map(({ id }: DeliveryRecord) => id), total };
  return JSON.stringify(found) === JSON.stringify(page) ? [] : [{ limit, offset, found, page }];
}

const wait = (ms: number) => async () => {
  now += ms;
};
const attempts = (all: [agoMs: number, status: number][]) => () =>
  Promise.all(all.map(([agoMs, status]) => attempt(agoMs, { status })));
const closes = (times: number) => () => Promise.all([...Array.from({ length: times }, close), attempt()]);

const step: fc.Arbitrary<() => Promise<unknown>> = fc.oneof(
  fc.oneof(fc.nat(3 * minuteMs), fc.nat(2 * hourMs), fc.nat(dayMs), fc.nat(30 * dayMs)).map(wait),
  fc
    .array(fc.tuple(fc.nat(writtenWithinMs), fc.constantFrom(...Object.keys(statusClasses).map(Number))), {
      minLength: 1,
      maxLength: 6,
    })
    .map(attempts),
  fc.integer({ min: 1, max: 3 }).map(closes),
);

it('a history equals a plain list at every offset, and its hours too, after attempts, closes, waits and expired days', async () => {
  const old = fc.array(fc.nat(ageMs), { maxLength: 8 });
  const steps = fc.array(step, { minLength: 10, maxLength: 20 });
  const pages = fc.array(fc.record({ limit: fc.integer({ min: 1, max: 20 }), offset: fc.nat(40) }), { minLength: 5 });
  await fc.assert(
    fc.asyncProperty(old, steps, pages, async (before, all, asked) => {
      restart();
      await Promise.all(before.map((agoMs) => oldAttempt(now - agoMs)));
      for (const act of all) {
        await act();
        expect(await total()).toBe(expected().length);
        expect(await hours()).toEqual(expectedHours());
      }
      for (const { limit, offset } of [{ limit: 100, offset: 0 }, ...asked])
        expect(await differences(limit, offset)).toEqual([]);
    }),
    { numRuns: 3, endOnFailure: true },
  );
});

describe('a close', () => {
  it('counts each attempt once, and no attempt that may still be written: from two minutes ago', async () => {
    for (let nth = 0; nth < 4; nth++) {
      await attempt();
      now += 5 * minuteMs;
      await close();
      await close();
    }
    expect(await closedDays()).toEqual({ '2026-03-01': 4 });
    now += 5 * minuteMs;
    await attempt(closedAfterMs + 1);
    await attempt(closedAfterMs - 1);
    await close();
    expect(await closedDays()).toEqual({ '2026-03-01': 5 });
    expect(await total()).toBe(6);
  });

  it.each([minuteMs * 60, dayMs])('by a clock that was %d ms ahead is replaced by the next one', async (aheadMs) => {
    await attempt();
    now += aheadMs;
    await attempt();
    now += 5 * minuteMs;
    await close();
    now -= aheadMs;
    await attempt();
    expect(await total()).toBe(3);
    await expectHoursOfToday();
    await closeAttemptCounts(context, organization, webhookId, now, false);
    const replaced = await closed();
    await closeAttemptCounts(context, organization, webhookId, now + minuteMs, false);
    expect(await closed()).toEqual(replaced);
    for (let times = 0; times < 2; times++) {
      now += aheadMs;
      await attempt();
      expect(await total()).toBe(4 + times);
      await close();
      expect(await total()).toBe(4 + times);
      await expectHoursOfToday();
    }
  });

  it('reads only the attempts since the first one', async () => {
    await attempt();
    // Requests: the reads of the item and of the first attempt, the query of the rows, the write.
    now += closedAfterMs + 1;
    expect(await costOf(close)).toMatchObject({ requests: 2 + 1 + 1 });
    expect(await closedDays()).toEqual({ '2026-03-01': 1 });
  });

  it('counts attempts from before the registration of the webhook, by a clock that was ahead at it or is behind', async () => {
    await attempt(ageMs + 60 * minuteMs);
    await attempt();
    now += closedAfterMs + 1;
    await close();
    expect(await closedDays()).toEqual({ '2026-02-27': 1, '2026-03-01': 1 });
    expect(await total()).toBe(2);
  });

  it('is made once by three concurrent workers', async () => {
    for (const days of [{ '2026-03-01': 1 }, { '2026-03-01': 1, '2026-03-02': 1 }]) {
      await attempt();
      now += dayMs;
      const { promise: allSent, resolve: sendAll } = Promise.withResolvers<void>();
      let writers = 0;
      const watched = watchedTable(table, async ({ writes }) => {
        if (!writes) return;
        if (++writers === 3) sendAll();
        await allSent;
      });
      await Promise.all([1, 2, 3].map(() => closeAttemptCounts(watched, organization, webhookId, now)));
      expect(await closedDays()).toEqual(days);
      expect(await total()).toBe(expected().length);
    }
  });

  it('between the two requests of a read does not change the total', async () => {
    await attempt();
    now += 5 * minuteMs;
    await attempt();
    const watched = watchedTable(table, ({ nth }) => (nth === 1 ? close() : undefined));
    expect(await total(watched)).toBe(2);
    expect(await closedDays()).toEqual({ '2026-03-01': 1 });
  });

  it('keeps a day that has left the history until the next close', async () => {
    await attempt();
    now += dayMs;
    await attempt();
    now += dayMs;
    await close();
    now += 89 * dayMs;
    for (const offset of [0, 1]) expect(await differences(100, offset)).toEqual([]);
    expect(await total()).toBe(1);
    expect(await closedDays()).toEqual({ '2026-03-01': 1, '2026-03-02': 1 });
    await close();
    expect(await closedDays()).toEqual({ '2026-03-02': 1 });
    expect(await total()).toBe(1);
  });

  it.skipIf(countsFewerUnits)(
    'keeps the item in one read unit and four write units, with all its days and hours',
    async () => {
      const Key = keys.closedAttempts(organization, ulidOf(webhookId));
      for (let day = 0; day < 90; day++) {
        await attempt();
        now += dayMs;
      }
      await close();
      const most = Object.fromEntries(Object.values(statusClasses).map((name) => [name, 9_999_999]));
      const { since, counts } = (await closed())['#hours'] as { since: string; counts: object };
      const full = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [hourAgo(at).slice(0, 13), most]));
      const write = {
        Key,
        UpdateExpression: 'SET #hours = :hours',
        ExpressionAttributeNames: { '#hours': '#hours' },
        ExpressionAttributeValues: { ':hours': { since, counts: full } },
      };
      await transact(table, [{ Update: write }]);
      expect(Object.keys(await closedDays())).toHaveLength(90);
      expect(Object.keys(counts)).toEqual([hourAgo(24).slice(0, 13)]);
      expect(await costOf(hours)).toMatchObject({ requests: 2, rcu: 2 });
      await attempt();
      now += 5 * minuteMs;
      const { wcu } = await costOf(close);
      expect(wcu).toBeLessThanOrEqual(4);
      expect(await closedDays()).toMatchObject({ [timestamp(now).slice(0, 10)]: 1 });
    },
  );

  it('expires when its last counted day leaves the history', async () => {
    await attempt();
    now += dayMs;
    await close();
    const { expiresAt } = (await closed()) as { expiresAt: number };
    const days = [expiresAt * 1000 - 1, expiresAt * 1000].map(firstKeptDay);
    expect(days).toEqual(['2026-03-02', '2026-03-03']);
  });
});

describe('numbers of days without hours, which an earlier version stored', () => {
  it('make an hour known if it began after their closing time', async () => {
    await attempt();
    now += 50 * minuteMs;
    await attempt();
    await close();
    await removeHours();
    now += 30 * minuteMs;
    await attempt();
    expect(await hours()).toEqual([[hourAgo(0), { '2xx': 1 }]]);
    expect(await total()).toBe(3);
    now += 30 * minuteMs;
    await close();
    now += 22 * hourMs;
    expect(await hours()).toEqual(expectedHours().slice(1));
    expect(await total()).toBe(3);
  });

  it('are what such a version finds in an item with hours', async () => {
    await attempt();
    now += 5 * minuteMs;
    await close();
    // It takes all other attributes for days, and leaves out the days before the first day of the history.
    const { pk, sk, through, expiresAt, ...days } = await closed();
    const counted = Object.entries(days).filter(([day]) => day >= firstKeptDay(now));
    expect(Object.keys(days)).toEqual(expect.arrayContaining(['#hours', '2026-03-01']));
    expect(counted).toEqual([['2026-03-01', 1]]);
  });
});

it('one of 256 deliveries counts the attempts', () => {
  const letters = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
  const ends = letters.flatMap((last) => letters.map((letter) => `dlv_${(letter + last).padStart(26, 'A')}`));
  expect(ends.filter(isTurnToCount)).toHaveLength(ends.length / 256);
});
