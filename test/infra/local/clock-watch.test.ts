import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type StepListeners, watchClock } from '../../../infra/local/clock-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Watches a clock that is set by some milliseconds a second after the start; returns the lines and the steps. */
async function watch(setMs: number) {
  const [lines, steps]: [unknown[], number[]] = [[], []];
  let offset = 0;
  const monotonic = () => performance.now();
  const listeners: StepListeners = new Set([(stepMs) => void steps.push(stepMs)]);
  const log = { warn: (line: unknown) => void lines.push(line) };
  const stop = watchClock(listeners, log, { clock: () => 1_000_000 + monotonic() + offset, monotonic });
  await vi.advanceTimersByTimeAsync(1_500);
  offset = setMs;
  await vi.advanceTimersByTimeAsync(10_000);
  stop();
  offset = 0;
  await vi.advanceTimersByTimeAsync(10_000);
  return { lines, steps };
}

it.each([
  [-3_600_000, 'the clock was set back by 3600 s'],
  [-5_000, 'the clock was set back by 5 s'],
  [1_500, 'the clock was set forward by 1.5 s'],
])('a step of the clock of %d ms is logged in one line, and known to its listeners once', async (setMs, line) => {
  expect(await watch(setMs)).toEqual({ lines: [line], steps: [setMs] });
});

it.each([-1_000, 0, 1_000])('a step of %d ms is not logged', async (setMs) => {
  expect(await watch(setMs)).toEqual({ lines: [], steps: [] });
});
