import { createContext, useContext, useSyncExternalStore } from 'react';
import { exactTime } from './format/exact-time.ts';
import { relativeTime } from './format/time-text.ts';

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

/** A relative time that stays current. The exact one, in the zone of the viewer, is shown on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(Date.parse(at), now)}
    </time>
  );
}
