import { expect, it } from 'vitest';
import { virtualTime } from './virtual-time.ts';

it('passes only when all participants wait, and resumes one at a time in the order of their waits', async () => {
  const time = virtualTime();
  const seen: string[] = [];
  let running = 0;
  const participant = async (name: string, waits: number[]) => {
    for (const wait of waits) {
      await time.sleep(wait);
      running += 1;
      seen.push(`${name} after ${wait}`);
      // The work takes real time, in which no other participant runs.
      await new Promise((resolve) => setImmediate(resolve));
      expect(running).toBe(1);
      running -= 1;
    }
    time.leave();
  };
  time.join();
  time.join();
  await Promise.all([participant('slow', [1_000_000, 30]), participant('fast', [10, 999_995, 20])]);
  expect(seen).toEqual(['fast after 10', 'slow after 1000000', 'fast after 999995', 'fast after 20', 'slow after 30']);
});

it('does not pass while a participant does not wait', async () => {
  const time = virtualTime();
  time.join();
  time.join();
  let over = false;
  const sleep = time.sleep(1).then(() => {
    over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  time.leave();
  await sleep;
});
