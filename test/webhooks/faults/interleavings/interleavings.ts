import { expect } from 'vitest';
import type { Change } from '../../../../lib/webhooks/deliveries/publish-events.ts';
import { fc } from '../../../seeded.ts';
import { startTime } from '../../test-webhooks.ts';
import { type Fault, points } from '../faults.ts';
import { failing, late, type Pipeline } from '../pipeline.ts';

const events = ['task.created', 'task.status_changed', 'task.completed'] as const;

type Step =
  | { does: 'commit'; event: (typeof events)[number] }
  | { does: 'publish again'; nth: number }
  | { does: 'deliver' | 'deliver twice' | 'sweep' | 'duplicate' | 'lose' }
  | { does: 'wait'; seconds: number }
  | { does: 'break'; fault: Fault };

const fault = fc
  .record({
    at: fc.constantFrom(...points),
    when: fc.constantFrom('before' as const, 'half' as const, 'after' as const),
    how: fc.constantFrom('dies' as const, 'fails' as const, 'throttles' as const),
    after: fc.nat(6),
  })
  // Only a queue takes half of a batch.
  .map((one): Fault => (one.when === 'half' && !one.at.startsWith('send') ? { ...one, when: 'after' } : one));

const does = <Does extends Step['does']>(...names: Does[]) => ({ does: fc.constantFrom(...names) });
const seconds = fc.oneof(fc.nat(70), fc.constantFrom(180, 300, 900, 1_800, 7_200));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...does('commit'), event: fc.constantFrom(...events) }) },
  { weight: 1, arbitrary: fc.record({ ...does('publish again'), nth: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record(does('deliver', 'deliver twice', 'sweep', 'duplicate', 'lose')) },
  { weight: 3, arbitrary: fc.record({ ...does('wait'), seconds }) },
  { weight: 3, arbitrary: fc.record({ ...does('break'), fault }) },
);

/** A webhook: how often its receiver fails, and whether by a time-out. */
const webhook = fc.record({
  failures: fc.constantFrom(0, 0, 1, 2, 3, 4),
  slow: fc.boolean(),
  events: fc.uniqueArray(fc.constantFrom(...events), { minLength: 1 }),
});

async function carryOut(pipeline: Pipeline, committed: Change[], step: Step): Promise<void> {
  const { held } = pipeline.queues;
  if (step.does === 'commit') {
    const change = pipeline.change(step.event);
    committed.push(change);
    pipeline.put(change);
    await pipeline.publishStream();
  } else if (step.does === 'publish again') {
    const change = committed[step.nth % committed.length];
    if (change) pipeline.put(change);
  } else if (step.does === 'break') pipeline.faults.plan(step.fault);
  else if (step.does === 'wait') pipeline.clock.now += step.seconds * 1000 + 1;
  else if (step.does === 'deliver') await pipeline.deliver();
  else if (step.does === 'deliver twice') await Promise.all([pipeline.deliver(), pipeline.sweep(), pipeline.deliver()]);
  else if (step.does === 'sweep') await pipeline.sweep();
  else if (step.does === 'duplicate') held.push(...held.slice(0, 2).map((message) => ({ ...message })));
  else held.shift();
}

/**
 * The longest delay of an attempt that finds no free lease of a slow webhook, in milliseconds. It chooses its lease by its
 * random delivery id, so it may find none twice.
 */
const noLeaseMs = 2 * 15 * 60_000;

/** Returns how late an attempt may be: the time without work, and at most eight minutes for each loss. */
function latestOf(steps: readonly Step[], webhooks: readonly { slow: boolean }[]): number {
  const losses = steps.filter(({ does }) => does === 'break' || does === 'lose').length;
  const idle = steps.reduce((total, step) => total + (step.does === 'wait' ? step.seconds * 1000 + 1 : 0), 0);
  const slow = webhooks.some(({ slow }) => slow) ? noLeaseMs : 0;
  return idle + (losses + 1) * 8 * 60_000 + slow;
}

/** Runs random steps in a random order, each time on a new pipeline, and expects that each delivery ends exactly once. */
export async function checkInterleavings(createPipeline: () => Pipeline, numRuns: number, seed: number): Promise<void> {
  const webhooks = fc.array(webhook, { minLength: 1, maxLength: 3 });
  const steps = fc.array(step, { minLength: 4, maxLength: 25 });
  const property = fc.asyncProperty(webhooks, steps, async (webhooks, steps) => {
    const pipeline = createPipeline();
    for (const { failures, slow, events } of webhooks)
      await pipeline.register(slow ? (nth) => (nth <= failures ? late : {}) : failing(failures), events);
    const committed: Change[] = [];
    pipeline.clock.now = startTime + 1;
    for (const step of steps) await carryOut(pipeline, committed, step);
    await pipeline.settle();
    // An operator redrives the dead letters.
    while (pipeline.queues.redrive()) await pipeline.settle();
    const { wrong, latestMs } = await pipeline.check();
    expect(wrong).toEqual([]);
    expect(latestMs).toBeLessThanOrEqual(latestOf(steps, webhooks));
  });
  // The limit also ends the search for a smaller example, so that a failure is reported before the test times out.
  await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit: 10_000 });
}
