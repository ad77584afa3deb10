import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createChangeSignal, signalChange, waitForChange } from '../../../../infra/local/stream/change-signal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns whether a wait has ended, after all pending promises and due timers. */
async function hasEnded(wait: Promise<void>): Promise<boolean> {
  let ended = false;
  void wait.then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return ended;
}

it('ends all waits when a change is signalled', async () => {
  const signal = createChangeSignal();
  const waits = [waitForChange(signal, signal.changes, 50), waitForChange(signal, signal.changes, 50)];
  expect(await Promise.all(waits.map(hasEnded))).toEqual([false, false]);
  signalChange(signal);
  expect(await Promise.all(waits.map(hasEnded))).toEqual([true, true]);
  expect(vi.getTimerCount()).toBe(0);
});

it('ends a wait after its time, and at once if a change was signalled since the caller looked', async () => {
  const signal = createChangeSignal();
  const seen = signal.changes;
  signalChange(signal);
  expect(await hasEnded(waitForChange(signal, seen, 50))).toBe(true);
  const wait = waitForChange(signal, signal.changes, 50);
  await vi.advanceTimersByTimeAsync(49);
  expect(await hasEnded(wait)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await hasEnded(wait)).toBe(true);
});
