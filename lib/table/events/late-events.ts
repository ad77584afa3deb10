import { randomBytes } from 'node:crypto';
import { inBatches } from '../../aws/in-batches.ts';
import { timeOf, ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { batchWriteLimit, writeBatch } from '../access/batch-writes.ts';
import type { BatchingContext } from '../access/batchers.ts';
import type { Table } from '../access/client.ts';
import { isTooFarAhead } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { unavailable } from '../access/unavailable.ts';
import { historyExpiry } from '../lists/history-days.ts';
import { type LateItem, lastPosition, writtenWithinMs } from './positions.ts';

/**
 * How far the times of the positions are ahead of the clock, in milliseconds, at each try to write them. A table or a
 * process that is too slow for one try has more time in the next, so that the events of a slow batch are not repeated for
 * ever.
 */
const aheadMs = [0, 1_000, 5_000, 30_000];

/** The most events of one item, which has then 28 KB. */
const itemEvents = 1_000;

/** An event that followers of its organization may have passed. */
type LateEvent = { organization: Organization; ulid: string };

declare module '../access/batchers.ts' {
  interface Batchers {
    listLateEvent?: (event: LateEvent) => Promise<string>;
  }
}

/**
 * Returns whether an event that has just been written is late: followers may have passed its id, or would wait long for it,
 * because the clock that made it was ahead.
 *
 * @param now the time of the log after the write was confirmed (Unix time, in ms)
 */
export function isLate(id: string, now: number): boolean {
  const time = timeOf(ulidOf(id));
  return now - time > writtenWithinMs || isTooFarAhead(time, now, 0);
}

/**
 * Gives a late event, which the log has, a position that followers have not passed. The calls of one turn of the event loop
 * share one item for each organization. An event that is listed again has two positions.
 *
 * @param context its clock is the clock of the log, see `logTime`
 * @returns the greatest position of that item
 * @throws `ApiError` `unavailable` if the table is too slow
 */
export async function listLateEvent(
  { table, batchers, clock }: BatchingContext & { clock: () => number },
  organization: Organization,
  id: string,
): Promise<string> {
  batchers.listLateEvent ??= inBatches(
    Number.POSITIVE_INFINITY,
    (events: LateEvent[]) => writePositions(table, clock, events),
    (event) => `${event.organization} ${event.ulid}`,
  );
  return batchers.listLateEvent({ organization, ulid: ulidOf(id) });
}

/**
 * Writes positions until they are written in time. A position that is written late is an unnecessary one.
 *
 * @returns the greatest position of the item of each event
 */
async function writePositions(table: Table, clock: () => number, events: readonly LateEvent[]): Promise<string[]> {
  for (const ahead of aheadMs) {
    const time = clock() + ahead;
    const items = lateItems(events, time);
    const puts = items.map((Item) => ({ PutRequest: { Item } }));
    for (const batch of split(puts, batchWriteLimit)) await writeBatch(table, batch);
    if (clock() - time <= writtenWithinMs) return events.map((event) => positionIn(items, event));
  }
  throw unavailable();
}

/** Returns the items that give late events positions of a time. */
function lateItems(events: readonly LateEvent[], time: number): LateItem[] {
  return [...Map.groupBy(events, ({ organization }) => organization)].flatMap(([organization, own]) =>
    split(own, itemEvents).map((some) => ({
      ...keys.lateEvents(organization, lastPosition(ulidFrom(time, randomBytes(10)), some.length)),
      events: some.map(({ ulid }) => ulid),
      [tableSchema.expiry]: historyExpiry(time),
    })),
  );
}

/** Returns the greatest position of the item that has an event. */
function positionIn(items: readonly LateItem[], { organization, ulid }: LateEvent): string {
  const { pk } = keys.lateEvents(organization, '');
  return ulidOf((items.find((item) => item.pk === pk && item.events.includes(ulid)) as LateItem).sk);
}

function split<Entry>(entries: readonly Entry[], size: number): Entry[][] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, nth) =>
    entries.slice(nth * size, (nth + 1) * size),
  );
}
