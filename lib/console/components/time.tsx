import { createContext, useContext, useSyncExternalStore } from 'react';
import { exactTime } from './exact-time.ts';

/** Calls its subscribers each second while the page is visible, so that all relative times change together. */
function subscribe(changed: () => void): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') changed();
  }, 1_000);
  return () => clearInterval(timer);
}

/** Returns the current time in whole seconds, as milliseconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / 1000) * 1000);
}

/** The time of the data on the screen while nothing is updated, as Unix time in milliseconds; otherwise `undefined`. */
export const DataTimeContext = createContext<number | undefined>(undefined);

/** Returns the time up to which the screen is known: the current time, except in an outage. Clocks of what runs stop there. */
export function useKnownNow(): number {
  const dataTime = useContext(DataTimeContext);
  return Math.min(useNow(), dataTime ?? Number.POSITIVE_INFINITY);
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Returns a time relative to now, such as `5m ago`, `in 3h` or `now`. */
function relativeTime(at: number, now: number): string {
  const seconds = Math.trunc((at - now) / 1000);
  if (seconds === 0) return 'now';
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

/** A relative time that stays current. The exact one, in the zone of the viewer, is shown on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(Date.parse(at), now)}
    </time>
  );
}

/** Returns a duration in the largest fitting unit: `35 ms`, `1.2 s`, `4 min 5 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
