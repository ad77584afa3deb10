import type { Alarm } from '../../lib/webhooks/alarm.ts';

/** An alarm that was set: after how long it is to ring, and whether it was stopped. */
type Set = { afterMs: number; stopped: boolean; ring: () => void };

/** Alarms that ring when a test says so, in the order in which they were set: no test waits for a deadline. */
export function alarmsByHand() {
  const set: Set[] = [];
  const alarm: Alarm = (ring, afterMs) => {
    const one = { afterMs, stopped: false, ring };
    set.push(one);
    return () => {
      one.stopped = true;
    };
  };
  return { alarm, set };
}
