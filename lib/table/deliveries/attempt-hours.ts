import { timestamp } from '../../contract/ids.ts';
import type { Item } from '../access/write.ts';

/** The class of an attempt by the status of its response; `none` without a response. */
type StatusClass = '2xx' | '3xx' | '4xx' | '5xx' | 'none';

/** The number of attempts of an hour by their class. Classes without attempts are absent. */
export type HourCounts = Partial<Record<StatusClass, number>>;

/** The numbers of attempts of some UTC hours, such as `2026-11-22T09`. Hours without attempts are absent. */
type CountsByHour = Record<string, HourCounts>;

/**
 * The numbers of attempts in the latest hours. They are stored beside the numbers of days, which have the totals of 90 days.
 * Hours are kept only as long as reads need them, so that the item takes a single read unit.
 */
export type Hours = {
  /** The first hour whose attempts are all counted. */
  since: string;
  counts: CountsByHour;
};

/**
 * The attribute of the stored hours. Its name sorts before every day: versions that know only days take it for a day that
 * has left the history. They leave it out of totals, and remove it when they store numbers without hours.
 */
export const hoursAttribute = '#hours';

/** The number of hours that reads return, the current hour included. */
const shownHours = 24;

const hourMs = 3_600_000;

/** Returns the UTC hour of a time (Unix time, in ms). */
export const hourOf = (time: number): string => timestamp(time).slice(0, 13);

/** Returns the start of an hour (Unix time, in ms). */
export const hourStart = (hour: string): number => Date.parse(`${hour}:00:00Z`);

/** Returns the first hour that starts at a time (Unix time, in ms) or later. */
const hourFrom = (time: number): string => hourOf(time + hourMs - 1);

/** Returns the hours of an item with numbers up to a time (Unix time, in ms). Without hours, they are known from then on. */
export function storedHours(item: Item, through: number): Hours {
  return (item[hoursAttribute] as Hours | undefined) ?? { since: hourFrom(through), counts: {} };
}

/** Adds an attempt to the numbers of its hour. */
export function countAttempt(counts: CountsByHour, hour: string, httpStatus: number): void {
  const inHour = counts[hour] ?? {};
  const statusClass = classOf(httpStatus);
  inHour[statusClass] = (inHour[statusClass] ?? 0) + 1;
  counts[hour] = inHour;
}

/** Returns the number of attempts of each UTC day that has any. */
export function daysOf(counts: CountsByHour): Record<string, number> {
  const days: Record<string, number> = {};
  for (const [hour, inHour] of Object.entries(counts)) {
    const day = hour.slice(0, 10);
    days[day] = Object.values(inHour).reduce((sum, number) => sum + number, days[day] ?? 0);
  }
  return days;
}

/** Returns the hours before the start of a day (Unix time, in ms). Hours from then on can be counted again. */
export function hoursBefore({ since, counts }: Hours, start: number): Hours {
  const first = hourFrom(start);
  return {
    since: since < first ? since : first,
    counts: Object.fromEntries(Object.entries(counts).filter(([hour]) => hour < first)),
  };
}

/**
 * Returns the hours to store: the sum of the hours that are stored and of counted hours, as far as reads need them.
 *
 * @param stored `undefined` if all attempts are counted
 * @param to the time up to which attempts are counted (Unix time, in ms)
 */
export function hoursToStore(stored: Hours | undefined, counted: CountsByHour, to: number): Hours {
  // One hour more than a read shows, because the clock of the read may be behind.
  const oldest = hourOf(to - shownHours * hourMs);
  const since = stored && stored.since > oldest ? stored.since : oldest;
  const counts = addedUp(stored?.counts ?? {}, counted);
  return { since, counts: Object.fromEntries(Object.entries(counts).filter(([hour]) => hour >= since)) };
}

/** Returns the first of the hours that a read shows: 24 hours, the current hour included. */
export const firstShownHour = (now: number): string => hourOf(now - (shownHours - 1) * hourMs);

/** Returns the numbers of each hour from one on until now, the oldest hour first, also of hours without attempts. */
export function hoursSince(since: string, now: number, counts: readonly CountsByHour[]): [string, HourCounts][] {
  const all = counts.reduce(addedUp, {});
  const hours: [string, HourCounts][] = [];
  for (let start = hourStart(since); start <= now; start += hourMs)
    hours.push([timestamp(start), all[hourOf(start)] ?? {}]);
  return hours;
}

function addedUp(a: CountsByHour, b: CountsByHour): CountsByHour {
  const sum = { ...a };
  for (const [hour, inHour] of Object.entries(b)) {
    const added = { ...sum[hour] };
    for (const [name, number] of Object.entries(inHour) as [StatusClass, number][])
      added[name] = (added[name] ?? 0) + number;
    sum[hour] = added;
  }
  return sum;
}

/** Returns the class of a status; 0 means no response. HTTP has no final status below 200 or above 599 (RFC 9110). */
function classOf(httpStatus: number): StatusClass {
  if (httpStatus === 0) return 'none';
  const classes: Record<number, StatusClass> = { 2: '2xx', 3: '3xx', 4: '4xx' };
  return classes[Math.floor(httpStatus / 100)] ?? '5xx';
}
