import { expect, it } from 'vitest';
import { virtualTime } from './virtual-time.ts';

it('passes only when all who have joined wait, and lets them go on one at a time, whoever waits the shortest first', async () => {
  const time = virtualTime();
  const seen: string[] = [];
  let under = 0;
  const live = async (name: string, waits: number[]) => {
    for (const wait of waits) {
      await time.sleep(wait);
      under += 1;
      seen.push(`${name} after ${wait}`);
      // What is done takes real time, in which no other goes on.
      await new Promise((resolve) => setImmediate(resolve));
      expect(under).toBe(1);
      under -= 1;
    }
    time.leave();
  };
  time.join();
  time.join();
  await Promise.all([live('slow', [1_000_000, 30]), live('fast', [10, 999_995, 20])]);
  expect(seen).toEqual(['fast after 10', 'slow after 1000000', 'fast after 999995', 'fast after 20', 'slow after 30']);
});

it('waits for one who has joined and does not wait yet', async () => {
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
