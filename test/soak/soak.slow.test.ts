import { expect, it } from 'vitest';
import { soak } from './soak.ts';

/** Plans kills soon after steps of the clock, one of them by an hour that is taken back, a pause, and a low maximum rate. */
const seed = 862;

it('nothing is lost through faults of receivers and clock, pauses, rates, stops and kills of the service', async () => {
  const said: string[] = [];
  const outcome = await soak({
    ...{ seed, events: 150, faults: 20 },
    perSecond: 15,
    restWithinMs: 45_000,
    killsAtEnd: true,
    say: (line) => said.push(line),
  });
  expect(outcome.lost, `seed ${seed}\n${said.join('\n')}`).toEqual([]);
  expect(outcome.events).toBeGreaterThanOrEqual(150);
  // The events of tasks, and the events of executions.
  expect(outcome.logged).toBeGreaterThan(outcome.events);
  expect(outcome.deliveries.delivered).toBeGreaterThan(0);
  expect(outcome.fates.skipped).toBeGreaterThan(0);
  expect(outcome.executions.completed).toBeGreaterThan(0);
  const kinds = [...outcome.faults.keys()];
  expect(kinds).toEqual(expect.arrayContaining(['webhook paused', 'rate changed', 'clock stepped']));
});
