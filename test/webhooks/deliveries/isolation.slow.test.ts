import { describe, expect, it } from 'vitest';
import { pollingOf } from '../../../lib/deployment/polling.ts';
import { type Attempt, deliverTo, type SimulatedReceiver } from './simulated-service.ts';

const seconds = 30;

/** How late the latest of some attempts was, in milliseconds. */
const latest = (attempts: readonly Attempt[]) => Math.max(0, ...attempts.map(({ lateMs }) => lateMs));

const failing = { eventsPerSecond: 50, answer: () => ({ httpStatus: 500, afterMs: 9_000 }) };

/** 49 receivers that get an event a second and answer at once: the first one always fails, the others every tenth time. */
const quick = Array.from(
  { length: 49 },
  (_, nth): SimulatedReceiver => ({
    eventsPerSecond: 1,
    answer: (post) => ({ httpStatus: nth === 0 || post % 10 === 0 ? 503 : 204, afterMs: 50 }),
  }),
);

/** Few calls of each queue. */
const fewCalls = Object.fromEntries(
  Object.keys(pollingOf()).map((name) => [name, { batchSize: 10, concurrency: name === 'deliveries' ? 8 : 2 }]),
) as ReturnType<typeof pollingOf>;

/** Delivers to one receiver and the 49 quick ones, and returns the attempts of the one and of the others. */
async function deliverBeside(receiver: SimulatedReceiver, options: Partial<Parameters<typeof deliverTo>[1]> = {}) {
  const attempts = await deliverTo([receiver, ...quick], { seconds, ...options });
  const { own = [], others = [] } = Object.groupBy(attempts, (one) => (one.receiver === 0 ? 'own' : 'others'));
  return { own, others };
}

describe('one webhook of 50, with the concurrency of AWS at a quota of 1,000,', { timeout: 120_000 }, () => {
  it.each<[string, SimulatedReceiver['answer']]>([
    ['answers 500 after 9 s', failing.answer],
    ['does so every second time', (nth) => ({ httpStatus: 500, afterMs: nth % 2 === 0 ? 9_000 : 50 })],
    ['begins to while its retries come', (nth) => ({ httpStatus: 500, afterMs: nth < 500 ? 50 : 9_000 })],
  ])('that gets 50 events a second and %s delays no other attempt by more than 1 s', async (_, answer) => {
    const { own, others } = await deliverBeside({ eventsPerSecond: 50, answer });
    expect(own.length).toBeGreaterThan(100);
    // All that were published, up to those of the last second, and retries of every step.
    const ofStep = (step: number) => others.filter(({ attempt }) => attempt === step).length;
    expect(ofStep(1)).toBeGreaterThanOrEqual(49 * (seconds - 1));
    for (const step of [2, 3, 4]) expect(ofStep(step)).toBeGreaterThan(10);
    expect(latest(others)).toBeLessThanOrEqual(1_000);
  });

  it('would delay others by seconds with few calls', async () => {
    const { others } = await deliverBeside(failing, { polling: fewCalls });
    expect(latest(others)).toBeGreaterThan(5_000);
  });
});

describe('a slow webhook beside one that is slow and gets 50 events a second', { timeout: 120_000 }, () => {
  const slow = { eventsPerSecond: 1, answer: () => ({ httpStatus: 204, afterMs: 3_000 }) };
  const attemptsOfSlow = async (slowAttempts?: number) =>
    (await deliverTo([failing, slow], { seconds, ...(slowAttempts && { slowAttempts }) })).filter(
      ({ receiver }) => receiver === 1,
    );

  it('is delivered to within 1 s, since the other one takes half of the calls at most', async () => {
    const attempts = await attemptsOfSlow();
    expect(attempts.length).toBeGreaterThanOrEqual(seconds - 1);
    expect(latest(attempts)).toBeLessThanOrEqual(1_000);
  });

  it('would wait for seconds if the other one could take all', async () => {
    expect(latest(await attemptsOfSlow(1_000))).toBeGreaterThan(5_000);
  });
});
