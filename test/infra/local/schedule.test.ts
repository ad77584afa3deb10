import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { StepListeners } from '../../../infra/local/clock-watch.ts';
import { startSchedule } from '../../../infra/local/schedule.ts';
import type { Job } from '../../../lib/names/consumers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Starts the schedule of a job of once a minute, and records the `until` of each call. */
function start(job: Job, handle: () => Promise<void> = async () => {}) {
  const calls: (string | undefined)[] = [];
  const handler = async (event: unknown) => {
    const { detail } = event as { detail: { job: Job; until?: string } };
    expect(detail.job).toBe(job);
    calls.push(detail.until);
    await handle();
  };
  const steps: StepListeners = new Set();
  const stop = startSchedule({ name: 'test', timeoutSeconds: 60, handler }, { job, everySeconds: 60 }, steps);
  const step = (stepMs: number) => steps.forEach((listener) => void listener(stepMs));
  return { calls, stop, step, steps, pass: (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000) };
}

it('is called at the start for all work with a due time, then for what is due', async () => {
  const { calls, pass } = start('purges');
  expect(calls).toEqual([expect.stringMatching(/^9999-/)]);
  await pass(59);
  expect(calls).toHaveLength(1);
  await pass(61);
  expect(calls.slice(1)).toEqual([undefined, undefined]);
});

it('has one call at a time, and continues after one that fails', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const { promise, reject } = Promise.withResolvers<void>();
  const { calls, pass } = start('deliveries', () => promise);
  await pass(180);
  expect(calls).toHaveLength(1);
  reject(new Error('the table is not available'));
  await pass(60);
  expect(calls).toHaveLength(2);
});

it('is called at once after a step of the clock: for all work with a due time if the clock was set back', async () => {
  const { calls, pass, step } = start('purges');
  await pass(1);
  step(5_000);
  await pass(1);
  step(-5_000);
  await pass(1);
  expect(calls.slice(1)).toEqual([undefined, expect.stringMatching(/^9999-/)]);
});

it('is called once after the current call if the clock steps while that runs, and not after its stop', async () => {
  const ends: (() => void)[] = [];
  const { calls, stop, pass, step, steps } = start('purges', () => new Promise((resolve) => ends.push(resolve)));
  step(-5_000);
  step(-5_000);
  await pass(1);
  expect(calls).toHaveLength(1);
  ends[0]?.();
  await pass(1);
  expect(calls.slice(1)).toEqual([expect.stringMatching(/^9999-/)]);
  step(-5_000);
  const stopping = stop();
  ends[1]?.();
  await stopping;
  await pass(60);
  expect([calls.length, steps.size]).toEqual([2, 0]);
});

it('is not called after its stop, which waits for the current call', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { calls, stop, pass } = start('deliveries', () => promise);
  let stopped = false;
  const stopping = stop().then(() => {
    stopped = true;
  });
  await pass(1);
  expect(stopped).toBe(false);
  resolve();
  await stopping;
  await pass(60);
  expect(calls).toHaveLength(1);
});
