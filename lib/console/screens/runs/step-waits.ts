/** The times of a step: its start, ISO 8601, and its duration. Steps of early versions have no start. */
type TimedStep = { startedAt?: string; durationMs?: number };

/**
 * Returns how long the run waited before each step, in milliseconds: for a worker, for a throttled model or between two
 * workers. 0 for a step that began before another one had ended.
 *
 * @param steps in the order of their numbers
 * @param start when the run started (Unix time, in ms)
 */
export function waitsOf(steps: readonly TimedStep[], start: number): number[] {
  let end = start;
  return steps.map(({ startedAt, durationMs = 0 }) => {
    if (startedAt === undefined) return 0;
    const from = Date.parse(startedAt);
    const wait = Math.max(0, from - end);
    end = Math.max(end, from + durationMs);
    return wait;
  });
}
