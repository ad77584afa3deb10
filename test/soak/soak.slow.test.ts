import { expect, it } from 'vitest';
import { soak } from './soak.ts';

it('nothing is lost through faults of the table, failing receivers, stops and kills of the whole service', async () => {
  const said: string[] = [];
  const outcome = await soak({
    ...{ seed: 20, events: 150, faults: 20 },
    perSecond: 15,
    restWithinMs: 45_000,
    killsAtEnd: true,
    say: (line) => said.push(line),
  });
  expect(outcome.lost, `seed 20\n${said.join('\n')}`).toEqual([]);
  expect(outcome.events).toBeGreaterThanOrEqual(150);
  // The events of tasks, and those of executions.
  expect(outcome.logged).toBeGreaterThan(outcome.events);
  expect(outcome.deliveries.delivered).toBeGreaterThan(0);
  expect(outcome.executions.completed).toBeGreaterThan(0);
});
