import { beforeEach, describe, expect, it } from 'vitest';
import { timeOf, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { queryItems } from '../../../lib/table/access/reads.ts';
import { isLate, listLateEvent } from '../../../lib/table/events/late-events.ts';
import { type LateItem, lateEventsOf, writtenWithinMs } from '../../../lib/table/events/positions.ts';
import { type Clock, clockAt } from '../../service.ts';
import { meter } from '../fixtures/capacity.ts';
import { interceptTable } from '../fixtures/intercepted-table.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const opening = Date.parse('2026-03-01T12:00:00.000Z');
let organization: Organization;
let clock: Clock;
beforeEach(() => {
  organization = newOrganization();
  clock = clockAt(opening);
});

const idOf = (nth: number) => `ev_${ulidFrom(opening + nth, new Uint8Array(10))}`;
const ids = (count: number) => Array.from({ length: count }, (_, nth) => idOf(nth));

/** Returns the items with late events of an organization, newest first. */
const itemsOf = (of = organization) =>
  Array.fromAsync(queryItems(table, { pk: keys.events(of), from: 'L#' })) as Promise<LateItem[]>;

/** Lists events at the same time. `delays` move the clock, one during each batch of writes. */
async function list(events: readonly string[], delays: number[] = []) {
  const delayed = interceptTable(table, (send) => {
    clock.now += delays.shift() ?? 0;
    return send();
  });
  const context = { table: delayed, batchers: {}, clock };
  await Promise.all(events.map((id) => listLateEvent(context, organization, id)));
}

describe('an event', () => {
  it.each([
    [writtenWithinMs, false],
    [writtenWithinMs + 1, true],
  ])('whose write is confirmed %d ms after its time is late: %s', (ms, late) => {
    expect(isLate(idOf(0), opening + ms)).toBe(late);
  });
});

describe('late events', () => {
  it('of an organization that are listed at the same time share one item, which expires with events of now', async () => {
    clock.now += 5_000;
    await list(ids(30));
    const [item, ...more] = await itemsOf();
    expect(more).toEqual([]);
    expect(lateEventsOf(item as LateItem).map(({ ulid }) => `ev_${ulid}`)).toEqual(ids(30));
    expect(timeOf((item as LateItem).sk.slice(-26))).toBe(clock());
    expect(item).toMatchObject({ expiresAt: Date.parse('2026-05-31T00:00:00.000Z') / 1000 });
  });

  it('of two organizations have an item each', async () => {
    const other = newOrganization();
    const context = { table, batchers: {}, clock };
    await Promise.all([listLateEvent(context, organization, idOf(1)), listLateEvent(context, other, idOf(2))]);
    expect((await itemsOf()).flatMap(lateEventsOf)).toHaveLength(1);
    expect((await itemsOf(other)).flatMap(lateEventsOf)).toHaveLength(1);
  });

  it('cost a write unit for about 35 of them, and are split into items of 1,000', async () => {
    const context = { table, batchers: {}, clock };
    const listAll = (count: number) => Promise.all(ids(count).map((id) => listLateEvent(context, organization, id)));
    expect(await costOf(() => listAll(33))).toMatchObject({ requests: 1, wcu: 1 });
    const { requests, wcu } = await costOf(() => listAll(2_100));
    expect(requests).toBe(1);
    expect(wcu).toBeLessThanOrEqual(2_100 / 33);
    expect((await itemsOf()).map(({ events }) => events.length).sort()).toEqual([100, 1_000, 1_000, 33].sort());
  });

  it('get other positions, further ahead of the clock, until their item is confirmed in time', async () => {
    await list([idOf(1)], [writtenWithinMs + 1, 1_000 + writtenWithinMs + 1, 5_000 + writtenWithinMs]);
    const times = (await itemsOf()).map(({ sk }) => timeOf(sk.slice(-26)) - opening);
    const [first, second] = [writtenWithinMs + 1, 1_000 + 2 * (writtenWithinMs + 1)];
    expect(times.toReversed()).toEqual([0, first + 1_000, second + 5_000]);
  });

  it('are listed again with their batch if no item is confirmed in time', async () => {
    await expect(list([idOf(1)], Array(4).fill(60_000))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
