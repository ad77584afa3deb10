import { timestamp, ulidFrom } from '../../contract/ids.ts';

/** How many whole UTC days events and attempts are kept. */
const keptDays = 90;
const dayMs = 24 * 60 * 60 * 1000;

/** UTC days as the periods of a list: totals stay exact when whole days leave the history. */
export const utcDays = {
  /** Returns the least ULID of a day. */
  first: (day: string): string => ulidFrom(Date.parse(day), new Uint8Array(10)),
  /** Returns the greatest ULID of a day. */
  last: (day: string): string => ulidFrom(Date.parse(day) + dayMs - 1, new Uint8Array(10).fill(255)),
};

/** Returns the next UTC day, such as `2026-11-22`. */
export function dayAfter(day: string): string {
  return timestamp(Date.parse(day) + dayMs).slice(0, 10);
}

/** Returns the first UTC day that is still in the history. */
export function firstKeptDay(now: number): string {
  return timestamp(Math.floor(now / dayMs - keptDays) * dayMs).slice(0, 10);
}

/** Returns when items of a time expire, as Unix time in seconds: after their whole day has left the history. */
export function historyExpiry(time: number): number {
  return (Math.floor(time / dayMs) + 1 + keptDays) * (dayMs / 1000);
}
