import type { Clock } from '../../lib/names/consumers.ts';
import type { StepListeners } from './clock-watch.ts';
import { contextOf, type Handler } from './functions.ts';
import { type Stop, stopWithinMs, waited } from './queues/queue-poller.ts';

/** A function that event sources call. */
export type Called = { name: string; timeoutSeconds: number; handler: Handler };

/** A time that is later than every due time. */
const endOfTime = '9999-12-31T23:59:59.999Z';

/**
 * Does the work of EventBridge's schedule for a job. At the start it calls the function for all work with a due time,
 * because the queues start empty. After a step of the clock it is called at once: for what is due by the new time, or, if the
 * clock was set back, for all work again, because the times of that may be too late. While a call runs, there is no further
 * one; after a step it follows the current one.
 *
 * @param steps calls its functions after a step of the clock
 * @returns a function that stops the schedule
 */
export function startSchedule(
  { name, timeoutSeconds, handler }: Called,
  { job, everySeconds }: Clock,
  steps: StepListeners = new Set(),
): Stop {
  let current: Promise<unknown> | undefined;
  /** The call that follows the current one after a step. */
  let next: { until: string | undefined } | undefined;
  const call = (until?: string) => {
    current ??= handler({ detail: { job, until } }, contextOf(name, timeoutSeconds))
      .catch(console.error)
      .finally(() => {
        current = undefined;
        callNext();
      });
  };
  const callAfterStep = (stepMs: number) => {
    next = { until: stepMs < 0 ? endOfTime : next?.until };
    if (!current) callNext();
  };
  function callNext(): void {
    const due = next;
    next = undefined;
    if (due) call(due.until);
  }
  // The start does not wait for it: a purge can take minutes.
  call(endOfTime);
  steps.add(callAfterStep);
  const timer = setInterval(call, 1000 * everySeconds);
  return async () => {
    clearInterval(timer);
    steps.delete(callAfterStep);
    next = undefined;
    await Promise.race([current, waited(stopWithinMs)]);
  };
}
