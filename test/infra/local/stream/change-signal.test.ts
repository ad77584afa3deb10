import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openBell } from '../../../../infra/local/stream/change-signal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Whether a wait is over once everything that can go on by itself has. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return over;
}

it('ends the waits of all when it rings', async () => {
  const bell = openBell();
  const waits = [bell.wait(bell.rings(), 50), bell.wait(bell.rings(), 50)];
  expect(await Promise.all(waits.map(isOver))).toEqual([false, false]);
  bell.ring();
  expect(await Promise.all(waits.map(isOver))).toEqual([true, true]);
  expect(vi.getTimerCount()).toBe(0);
});

it('ends a wait by itself after its time', async () => {
  const bell = openBell();
  const wait = bell.wait(bell.rings(), 50);
  await vi.advanceTimersByTimeAsync(49);
  expect(await isOver(wait)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await isOver(wait)).toBe(true);
});

it('lets nobody wait who has missed a ring', async () => {
  const bell = openBell();
  const rings = bell.rings();
  bell.ring();
  expect(await isOver(bell.wait(rings, 50))).toBe(true);
  expect(await isOver(bell.wait(bell.rings(), 50))).toBe(false);
});
