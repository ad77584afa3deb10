import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../../processes/service-process.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { createServiceClock } from './service-clock.ts';

/** Prints how far the clock is ahead of the true time, in three ways, and how long that took. */
const program = `
  const times = [Date.now(), new Date().getTime(), Date.parse(Date())];
  const elapsed = performance.now();
  console.log(JSON.stringify({ times, elapsed, kept: new Date(5).getTime(), isDate: new Date() instanceof Date }));`;

it('a process that loads the clock of a soak has its steps in all dates, also after a restart, and not in timers', async () => {
  const clock = createServiceClock(join(createTemporaryFolder(), 'clock'));
  for (const [stepMs, aheadMs] of [
    [7_200_000, 7_200_000],
    [-10_800_000, -3_600_000],
  ] as const) {
    clock.step(stepMs);
    const startedAt = Date.now();
    const { ended } = startProgram([...clock.nodeOptions, '--eval', program], clock.environment);
    const { stdout, stderr } = await ended;
    expect(stderr).toBe('');
    const { times, elapsed, kept, isDate } = JSON.parse(stdout);
    for (const time of times) {
      // Date() has whole seconds.
      expect(time).toBeGreaterThan(startedAt + aheadMs - 1_000);
      expect(time).toBeLessThanOrEqual(Date.now() + aheadMs);
    }
    expect([elapsed > 0, elapsed <= Date.now() - startedAt + 1, kept, isDate]).toEqual([true, true, 5, true]);
  }
  clock.relent();
  expect(clock.steps.map(({ aheadMs }) => aheadMs)).toEqual([0, 7_200_000, -3_600_000, 0]);
});
