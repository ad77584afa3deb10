import { expect, it } from 'vitest';
import { atMost } from '../../../lib/console/screens/at-most.ts';

it('calls at most so many functions at the same time, in their order, also after one that fails', async () => {
  const limited = atMost(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const results = [0, 1, 2, 3].map((nth) =>
    limited(async () => {
      started.push(nth);
      await new Promise<void>((end) => ends.push(end));
      if (nth === 0) throw new Error('It fails.');
      return nth;
    }),
  );
  const settled = Promise.allSettled(results);
  expect(started).toEqual([0, 1]);
  ends[0]?.();
  await expect.poll(() => started).toEqual([0, 1, 2]);
  ends[1]?.();
  await expect.poll(() => started).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  ends[3]?.();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});
