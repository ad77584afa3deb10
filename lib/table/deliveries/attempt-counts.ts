import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { Table, TableContext } from '../access/client.ts';
import { isTooFarAhead } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { countItems, getItem, queryItems } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { dayAfter, firstKeptDay, historyExpiry } from '../lists/history-days.ts';
import { everything } from '../lists/listing.ts';
import {
  countAttempt,
  daysOf,
  firstShownHour,
  type HourCounts,
  type Hours,
  hourOf,
  hourStart,
  hoursAttribute,
  hoursBefore,
  hoursSince,
  hoursToStore,
  storedHours,
} from './attempt-hours.ts';
import { attemptFacet, timeLetters } from './attempt-items.ts';

/**
 * How long before the present the stored numbers of a webhook's attempts end, at least, in milliseconds.
 *
 * The number of attempts is exact and needs no write for each attempt. Up to a closing time, the number of each day is
 * stored, and the numbers of the latest hours by the status of the response; later attempts are counted from their rows at
 * each read. Some attempts move the closing time forward. It stays this far behind the present, because no row is written
 * with an earlier time.
 */
export const closedAfterMs = 2 * 60_000;

/** The stored numbers of each UTC day and of the latest hours, and the closing time, as the letters of a ULID. */
type Closed = { through: string; days: Days; hours: Hours };

/** A number for each UTC day, such as `2026-11-22`. */
type Days = Record<string, number>;

/** The attempts of a webhook in the last 90 days. */
export type AttemptCounts = {
  /** The number of attempts of each closed day. */
  days: Days;
  /** The first day that is not closed. */
  openDay: string;
  /** The number of attempts since the start of that day. */
  open: number;
};

/** Returns whether a delivery closes the counts of its webhook: one delivery of 256 does, by random bits of its id. */
export function isTurnToCount(deliveryId: string): boolean {
  return /[0G][0G]$/.test(deliveryId);
}

/** Returns the number of a webhook's attempts in the last 90 days, strongly consistent. */
export async function readAttemptCounts(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  now: number,
): Promise<AttemptCounts> {
  const first = firstKeptDay(now);
  const { closed: stored, before } = await readCounters(table, organization, webhookId, first);
  const closed = stored && trustedPart(stored, now);
  const from = fromOf(closed, first);
  const openDay = dayOf(from);
  const days = addedUp(closed?.days ?? {}, before);
  const kept = Object.entries(days).filter(([day]) => day >= first);
  const open = kept.filter(([day]) => day >= openDay).reduce((sum, [, number]) => sum + number, 0);
  return {
    days: Object.fromEntries(kept.filter(([day]) => day < openDay)),
    openDay,
    open: open + (await countRows(table, organization, webhookId, from)),
  };
}

/**
 * Returns the numbers of a webhook's attempts in each of the last 24 hours by the status of the response, strongly
 * consistent: the start of each hour (ISO 8601) with its numbers, the oldest hour first and the current hour last. An
 * attempt counts in the hour in which it was due, or began if it was late. Hours before the upgrade from a version that
 * stored only numbers of days are absent.
 */
export async function readAttemptHours(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  now: number,
): Promise<[string, HourCounts][]> {
  const { closed: stored, before } = await readCounters(table, organization, webhookId, firstKeptDay(now));
  const closed = stored && trustedPart(stored, now);
  const lastDayBefore = Object.keys(before).sort().at(-1);
  const since = [
    firstShownHour(now),
    ...(closed ? [closed.hours.since] : []),
    ...(lastDayBefore ? [`${dayAfter(lastDayBefore)}T00`] : []),
  ].reduce((latest, hour) => (hour > latest ? hour : latest));
  const start = timeLetters(hourStart(since));
  const from = closed && closed.through > start ? closed.through : start;
  const open = await countHours(table, organization, webhookId, from);
  return hoursSince(since, now, [closed?.hours.counts ?? {}, open]);
}

/**
 * Counts the attempts of a webhook up to `closedAfterMs` ago, and stores the numbers of days and hours. Of several
 * concurrent calls only one takes effect.
 *
 * @param isTurn `false`: only if a clock that was ahead has closed the counts
 */
export async function closeAttemptCounts(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  now: number,
  isTurn = true,
): Promise<void> {
  const first = firstKeptDay(now);
  const item = await getItem(table, keys.closedAttempts(organization, ulidOf(webhookId)));
  const stored = item && closedFrom(item);
  const closed = stored && trustedPart(stored, now);
  const isAhead = closed !== stored;
  if (!isTurn && !isAhead) return;
  const to = timeLetters(now - closedAfterMs);
  const from = closed ? fromOf(closed, first) : ((await firstAttempt(table, organization, webhookId, first)) ?? to);
  if (closed && from >= to && !isAhead) return;
  const counts = from < to ? await countHours(table, organization, webhookId, from, to) : {};
  const counted = daysOf(counts);
  const hours = hoursToStore(closed?.hours, counts, timeOf(to));
  const kept = Object.keys(closed?.days ?? {}).filter((day) => day >= first);
  const old = Object.keys(stored?.days ?? {}).filter((day) => !kept.includes(day) && !(day in counted));
  const write = { from: stored?.through, to, counted, hours, old, isAhead };
  await transact(table, [closeWrite(organization, webhookId, write)]).catch(ignoreConflict);
}

/**
 * Returns the part of the stored numbers that is complete. If a clock that was ahead has closed the counts, rows were
 * written since then in the part that it has counted: the numbers from the current day on are left out, and those rows are
 * counted again.
 */
function trustedPart(closed: Closed, now: number): Closed {
  const to = now - closedAfterMs;
  if (!isTooFarAhead(timeOf(closed.through), to, 0)) return closed;
  const today = dayOf(timeLetters(to));
  return {
    through: lettersOf(today),
    days: Object.fromEntries(Object.entries(closed.days).filter(([day]) => day < today)),
    hours: hoursBefore(closed.hours, Date.parse(today)),
  };
}

/** Returns the stored numbers, and the counters of versions before the attempt log, which counted in shards. */
async function readCounters(table: Table, organization: Organization, webhookId: string, first: string) {
  const pk = keys.attemptScope(organization, ulidOf(webhookId)).counters;
  let closed: Closed | undefined;
  let before: Days = {};
  for await (const item of queryItems(table, { pk, from: first })) {
    const { sk, through, [everything]: number = 0 } = item as { sk: string; through?: string; [everything]?: number };
    if (through) closed = closedFrom(item);
    else before = addedUp(before, { [sk.slice(0, first.length)]: number });
  }
  return { closed, before };
}

/** Returns the number of rows from a time on, the letters of a ULID. */
function countRows(table: Table, organization: Organization, webhookId: string, from: string): Promise<number> {
  const pk = keys.attemptScope(organization, ulidOf(webhookId)).rows;
  return countItems(table, { pk, from: `${attemptFacet}#${from}`, to: `${attemptFacet}#~` });
}

/**
 * Returns the numbers of rows by hour and status, from one time, included, to another, excluded; both as the letters of a
 * ULID.
 */
async function countHours(table: Table, organization: Organization, webhookId: string, from: string, to = '~') {
  const pk = keys.attemptScope(organization, ulidOf(webhookId)).rows;
  const prefix = `${attemptFacet}#`;
  const range = { pk, from: `${prefix}${from}`, to: `${prefix}${to}`, only: ['httpStatus'] };
  const counts: Record<string, HourCounts> = {};
  for await (const { sk, httpStatus } of queryItems(table, range))
    countAttempt(counts, hourOf(timeOf((sk as string).slice(prefix.length))), httpStatus as number);
  return counts;
}

function closedFrom(item: Item): Closed {
  const { pk, sk, through, [tableSchema.expiry]: expiry, [hoursAttribute]: hours, ...days } = item;
  return { through: through as string, days: days as Days, hours: storedHours(item, timeOf(through as string)) };
}

/**
 * Returns the time of the first attempt since a day, as the letters of a ULID; `undefined` if there is none. After a step of
 * the clock it can be earlier than the registration of the webhook.
 */
async function firstAttempt(
  table: Table,
  organization: Organization,
  webhookId: string,
  day: string,
): Promise<string | undefined> {
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  const prefix = `${attemptFacet}#`;
  const range = { pk, from: `${prefix}${lettersOf(day)}`, to: `${prefix}~`, limit: 1, only: [], ascending: true };
  for await (const { sk } of queryItems(table, range))
    return (sk as string).slice(prefix.length, prefix.length + lettersOf(day).length);
  return undefined;
}

/** Returns the time from which attempts are counted from their rows. */
function fromOf(closed: Closed | undefined, first: string): string {
  return closed && closed.through > lettersOf(first) ? closed.through : lettersOf(first);
}

function addedUp(a: Days, b: Days): Days {
  const days = { ...a };
  for (const [day, number] of Object.entries(b)) days[day] = (days[day] ?? 0) + number;
  return days;
}

const lettersOf = (day: string) => timeLetters(Date.parse(day));
const dayOf = (letters: string) => timestamp(timeOf(letters)).slice(0, 10);

/**
 * Returns the write that adds the numbers and moves the closing time, if it has not changed since it was read. After a close
 * by a clock that was ahead it replaces them. The item
 * expires when the last of its days leaves the history, so that nothing remains of a deleted webhook.
 */
function closeWrite(
  organization: Organization,
  webhookId: string,
  {
    from,
    to,
    counted,
    hours,
    old,
    isAhead,
  }: { from: string | undefined; to: string; counted: Days; hours: Hours; old: string[]; isAhead: boolean },
): Write {
  const days = Object.keys(counted);
  const add = days.length > 0 && !isAhead ? ` ADD ${days.map((_, at) => `#day${at} :number${at}`).join(', ')}` : '';
  const replace = isAhead ? days.map((_, at) => `, #day${at} = :number${at}`).join('') : '';
  const remove = old.length > 0 ? ` REMOVE ${old.map((_, at) => `#old${at}`).join(', ')}` : '';
  return {
    Update: {
      Key: keys.closedAttempts(organization, ulidOf(webhookId)),
      UpdateExpression: `SET through = :to, #expiry = :expiry, #hours = :hours${replace}${remove}${add}`,
      ConditionExpression: from === undefined ? 'attribute_not_exists(pk)' : 'through = :from',
      ExpressionAttributeNames: {
        '#expiry': tableSchema.expiry,
        '#hours': hoursAttribute,
        ...Object.fromEntries(days.map((day, at) => [`#day${at}`, day])),
        ...Object.fromEntries(old.map((day, at) => [`#old${at}`, day])),
      },
      ExpressionAttributeValues: {
        ':to': to,
        ':expiry': historyExpiry(timeOf(to)),
        ':hours': hours,
        ...(from !== undefined && { ':from': from }),
        ...Object.fromEntries(days.map((day, at) => [`:number${at}`, counted[day]])),
      },
    },
    onConditionFailed: () => new Conflict(),
  };
}
