/**
 * The rules for times in the table and in the memory of a process. Clocks differ, and a clock can be set forward or back
 * (docs/architecture.md#clocks).
 */

/** The maximum difference between the clocks of two functions, in milliseconds. */
export const clocksDifferMs = 60_000;

/**
 * Returns whether a time is further in the future than its rule can set: a clock that was ahead has set it, so no work may
 * wait for it.
 *
 * @param time Unix time in ms, like `now`
 * @param longestMs how far ahead of the present the rule sets the time at most, in milliseconds
 */
export function isTooFarAhead(time: number, now: number, longestMs: number): boolean {
  return time > now + longestMs + clocksDifferMs;
}
