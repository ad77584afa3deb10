import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type EventName, eventNames } from '../../../lib/contract/webhooks/events.ts';
import { type AttemptFilter, attemptStatuses, type DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { attemptItem, attemptOrder } from '../../../lib/table/deliveries/attempt-items.ts';
import { placeOf } from '../../../lib/table/deliveries/attempt-log.ts';
import { readFilteredAttempts } from '../../../lib/table/deliveries/filtered-history.ts';
import { everything } from '../../../lib/table/lists/listing.ts';
import { countsFewerUnits } from '../../dynamodb-local/endpoint.ts';
import { fc } from '../../seeded.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';
import { attemptFor, newMessage, webhookId } from './attempt-seed.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const now = Date.parse('2026-03-01T12:00:00.000Z');
const dayMs = 24 * 60 * 60_000;
/** The earliest and the latest end of an attempt, after the time that orders it in the log. */
const [endsFrom, endsWithin] = [-60_000, 120_000];
let organization: Organization;
let written: { order: string; record: DeliveryRecord }[];

beforeEach(restart);

function restart(): void {
  organization = newOrganization();
  written = [];
}

/** An attempt to write: how long before now it was due, and how long after that it ended. */
type Seed = { agoMs: number; tookMs: number; event: EventName; failed: boolean; old: boolean };

/** Writes the row of an attempt, `old` as the version before the attempt log did. */
async function write({ agoMs, tookMs, event, failed, old }: Seed): Promise<void> {
  const bytes = new Uint8Array(10);
  new DataView(bytes.buffer).setUint32(4, written.length);
  const time = now - agoMs;
  const deliveryId = `dlv_${ulidFrom(time, bytes)}`;
  const message = newMessage(organization, { deliveryId, dueAt: timestamp(time) });
  const attempt = attemptFor(message, failed ? { error: 'It failed.' } : {});
  const record = { ...attempt.record, event, deliveredAt: timestamp(time + tookMs) };
  const list = keys.attemptScope(organization, ulidOf(webhookId));
  const item = attemptItem({ ...attempt, record });
  const order = old ? ulidOf(deliveryId) : attemptOrder(placeOf(message));
  written.push({ order, record });
  await transact(table, [{ Put: { Item: old ? { ...item, ...keys.listRow(list, everything, order) } : item } }]);
}

const read = (query: { limit: number; offset: number } & AttemptFilter) =>
  readFilteredAttempts({ table, clock: () => now }, organization, webhookId, query);

/** Returns the page of a plain list. */
function expected({ limit, offset, status, event, since, until }: { limit: number; offset: number } & AttemptFilter) {
  const found = written
    .toSorted((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ record }) => record)
    .filter((record) => status === undefined || (status === 'failed') === (record.error !== undefined))
    .filter((record) => event === undefined || event === record.event)
    .filter(({ deliveredAt }) => since === undefined || Date.parse(deliveredAt) >= since)
    .filter(({ deliveredAt }) => until === undefined || Date.parse(deliveredAt) <= until);
  return { items: found.slice(offset, offset + limit), total: found.length };
}

const age = fc.oneof(fc.nat(4 * endsWithin), fc.nat(3 * dayMs));
const seed: fc.Arbitrary<Seed> = fc.record({
  agoMs: age,
  tookMs: fc.integer({ min: endsFrom, max: endsWithin }),
  event: fc.constantFrom(...eventNames),
  failed: fc.boolean(),
  old: fc.boolean(),
});
/** A time that often is the end of an attempt. */
const moment = fc.tuple(fc.boolean(), fc.nat(), age);
const query = fc.record({
  limit: fc.integer({ min: 1, max: 20 }),
  offset: fc.oneof(fc.constant(0), fc.nat(10)),
  status: fc.option(fc.constantFrom(...attemptStatuses), { nil: undefined }),
  event: fc.option(fc.constantFrom(...eventNames), { nil: undefined }),
  since: fc.option(moment, { nil: undefined }),
  until: fc.option(moment, { nil: undefined }),
});

it('a filtered list equals a filtered plain list, whatever its filters, at every offset', async () => {
  const seeds = fc.array(seed, { minLength: 10, maxLength: 40 });
  const queries = fc.array(query, { minLength: 20, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(seeds, queries, async (attempts, asked) => {
      restart();
      for (const attempt of attempts) await write(attempt);
      for (const { since, until, ...rest } of asked) {
        const timeOf = ([atEnd, nth, agoMs]: [boolean, number, number]) =>
          atEnd ? Date.parse(written[nth % written.length]?.record.deliveredAt as string) : now - agoMs;
        // A filter without fields is read otherwise.
        const status = rest.status ?? (rest.event || since || until ? undefined : 'failed');
        const given = { ...rest, status, since: since && timeOf(since), until: until && timeOf(until) };
        expect(await read(given)).toEqual(expected(given));
      }
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

const one: Seed = { agoMs: 0, tookMs: 0, event: 'task.created', failed: false, old: false };
const page = { limit: 20, offset: 0 };

describe('a filtered list', () => {
  it('has no attempts of days that have left the history', async () => {
    await write({ ...one, agoMs: 90 * dayMs + (now % dayMs) });
    await write({ ...one, agoMs: 90 * dayMs + (now % dayMs) + 1 });
    for (const since of [undefined, 0, now - 100 * dayMs])
      expect(await read({ ...page, status: 'delivered', since })).toMatchObject({ total: 1 });
    expect(await read({ ...page, until: now - 91 * dayMs })).toEqual({ items: [], total: 0 });
    expect(await read({ ...page, until: -dayMs })).toEqual({ items: [], total: 0 });
  });

  it('is empty for a time in the future, and has all attempts until the last time that ISO 8601 can write', async () => {
    await write(one);
    expect(await read({ ...page, since: now + 1 })).toEqual({ items: [], total: 0 });
    const lastTime = Date.parse('9999-12-31T23:59:59.999Z');
    expect(await read({ ...page, since: lastTime })).toEqual({ items: [], total: 0 });
    expect(await read({ ...page, until: lastTime })).toMatchObject({ total: 1 });
  });

  it.skipIf(countsFewerUnits)(
    'reads its time range only, one query for each of the two layouts of the log',
    async () => {
      for (let nth = 0; nth < 60; nth++) await write({ ...one, agoMs: nth * 3_600_000 });
      const all = await costOf(() => read({ ...page, status: 'failed' }));
      expect(all).toEqual({ requests: 2, rounds: 2, rcu: 6, wcu: 0 });
      const some = await costOf(() => read({ ...page, status: 'failed', since: now - 5 * 3_600_000 }));
      expect(some).toEqual({ requests: 2, rounds: 2, rcu: 2, wcu: 0 });
    },
  );
});
