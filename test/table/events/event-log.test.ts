import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { appendEvent, eventFrom, isEvent, type LoggedEvent, readEvents } from '../../../lib/table/events/event-log.ts';
import { deliveryPartitions } from '../../../lib/table/lists/delivery-partitions.ts';
import { dueEntry, readDue } from '../../../lib/table/lists/due.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable, newOrganization } from '../tasks/test-table.ts';

const { table } = await createTestTable();
const { costOf } = meter(table);
const context = { table, batchers: {} };
const append = (event: LoggedEvent) => appendEvent(context, event);
const opening = Date.parse('2026-03-01T12:00:00.000Z');
let organization: Organization;

beforeEach(() => {
  organization = newOrganization();
});

/** Returns an event of a time, with a ULID that ends with `end`. */
function newEvent(time: number, end = '1', fields: Partial<LoggedEvent> = {}): LoggedEvent {
  const id = `ev_${ulidFrom(time, new Uint8Array(10)).slice(0, -end.length)}${end}`;
  return { organization, id, event: 'task.created', item: 'tk_1', version: 1, data: '{"b":1,"a":2}', ...fields };
}

const itemOf = ({ id }: LoggedEvent) => getItem(table, keys.event(organization, ulidOf(id)));
const between = (from: number, to: number) => Array.fromAsync(readEvents(context, organization, from, to));
const due = async (until: number) =>
  (await Array.fromAsync(readDue({ table }, deliveryPartitions, timestamp(until)))).filter(
    ({ key }) => key.pk === keys.event(organization, '').pk,
  );

describe('the event log', () => {
  it('has an event once, as it was appended, with the same text of its data', async () => {
    const event = newEvent(opening, '1', { requestId: 'request-1' });
    await Promise.all([append(event), append(event)]);
    await append(event);
    expect(await between(opening, opening)).toEqual([event]);
  });

  it('writes concurrent events in batches of 25', async () => {
    const events = Array.from({ length: 60 }, (_, nth) => newEvent(opening + nth));
    const cost = await costOf(() => Promise.all(events.map(append)));
    expect(cost).toMatchObject({ requests: 3, wcu: 60 });
    expect(await between(opening, opening + 59)).toEqual(events.toReversed());
  });

  it('is read newest first, including both ends of the time range', async () => {
    const events = [0, 1, 2, 3].map((later) => newEvent(opening + later, later % 2 ? 'Z' : '1'));
    await Promise.all(events.map(append));
    expect(await between(opening + 1, opening + 2)).toEqual([events[2], events[1]]);
    expect(await between(opening + 4, opening + 5)).toEqual([]);
  });

  it('keeps an event until 90 days after the end of its day', async () => {
    for (const time of ['2026-03-01T00:00:00.000Z', '2026-03-01T23:59:59.999Z']) {
      const event = newEvent(Date.parse(time));
      await append(event);
      expect((await itemOf(event))?.expiresAt).toBe(Date.parse('2026-05-31T00:00:00.000Z') / 1000);
    }
  });
});

it('an event is not listed for the sweeper, and one that an earlier version has listed is read with all its fields', async () => {
  const event = newEvent(opening, '0');
  await append(event);
  expect(await due(Date.parse('9999-12-31T23:59:59.999Z'))).toEqual([]);
  const listed = { ...(await itemOf(event)), ...dueEntry('d0', timestamp(opening)) };
  expect(isEvent(listed)).toBe(true);
  expect(eventFrom(listed)).toEqual(event);
});
