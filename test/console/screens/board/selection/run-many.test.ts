import { describe, expect, it } from 'vitest';
import { atOnce, closeFor, type Gate, runMany } from '../../../../../lib/console/screens/board/selection/run-many.ts';

/** An error of a service that asks to wait. */
class Busy extends Error {
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    super('busy');
    this.milliseconds = milliseconds;
  }
}

const items = (count: number) => Array.from({ length: count }, (_, nth) => nth);

/** Lets all that can go on do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Runs on a clock of its own. `act` decides what becomes of an item at its nth try; the test ends the requests that wait, and moves the
 * clock.
 */
function startRun(count: number, act: (item: number, tries: number) => unknown = () => undefined) {
  const stop = new AbortController();
  const sleepers: { until: number; wake: () => void }[] = [];
  let now = 0;
  const gate: Gate = {
    opensAt: 0,
    now: () => now,
    stopped: stop.signal,
    sleep: (milliseconds, stopped) =>
      new Promise((wake) => {
        sleepers.push({ until: now + milliseconds, wake });
        stopped.addEventListener('abort', () => wake());
      }),
  };
  const tries = new Map<number, number>();
  const underWay = new Map<number, () => void>();
  const ended: [item: number, error?: unknown][] = [];
  const outcome = runMany(gate, items(count), {
    act: async (item) => {
      tries.set(item, (tries.get(item) ?? 0) + 1);
      await new Promise<void>((resolve) => underWay.set(item, resolve));
      await act(item, tries.get(item) ?? 0);
    },
    retryAfterMs: (error) => (error instanceof Busy ? error.milliseconds : undefined),
    onEnd: (...end) => ended.push(end),
  });
  return {
    gate,
    outcome,
    ended,
    stop: () => stop.abort(),
    underWay: () => [...underWay.keys()],
    /** Ends the requests of items, or of all under way. */
    async end(...which: number[]) {
      for (const item of which.length > 0 ? which : [...underWay.keys()]) {
        underWay.get(item)?.();
        underWay.delete(item);
      }
      await settle();
    },
    async passTime(milliseconds: number) {
      now += milliseconds;
      for (const { until, wake } of sleepers) if (until <= now) wake();
      await settle();
    },
  };
}

describe('many items', () => {
  it('are worked on six at a time, and all end', async () => {
    const run = startRun(20);
    await settle();
    expect(run.underWay()).toEqual(items(atOnce));
    await run.end(2);
    expect(run.underWay()).toEqual([0, 1, 3, 4, 5, 6]);
    for (let most = 0; run.ended.length < 20; most++) {
      expect(run.underWay().length, String(most)).toBeLessThanOrEqual(atOnce);
      await run.end();
    }
    const { done, failed, left } = await run.outcome;
    expect([...done].sort((a, b) => a - b)).toEqual(items(20));
    expect([failed, left]).toEqual([[], []]);
  });

  it('go on after a failure, which is named with its item', async () => {
    const error = new Error('claimed');
    const run = startRun(8, (item) => (item === 3 ? Promise.reject(error) : undefined));
    await settle();
    await run.end();
    await run.end();
    const { done, failed } = await run.outcome;
    expect(failed).toEqual([{ item: 3, error }]);
    expect(done).toHaveLength(7);
    expect(run.ended).toContainEqual([3, error]);
  });

  it('all wait when the service asks one to wait, and that one is tried again', async () => {
    const run = startRun(8, (item, tries) =>
      item === 0 && tries === 1 ? Promise.reject(new Busy(30_000)) : undefined,
    );
    await settle();
    await run.end(0, 1);
    // The requests that were under way end; no other begins.
    expect(run.underWay()).toEqual([2, 3, 4, 5]);
    await run.end();
    expect(run.underWay()).toEqual([]);
    await run.passTime(29_999);
    expect(run.underWay()).toEqual([]);
    await run.passTime(1);
    expect(run.underWay().sort()).toEqual([0, 6, 7]);
    await run.end();
    expect((await run.outcome).done).toHaveLength(8);
  });

  it('wait for the longest of several times', async () => {
    const run = startRun(1);
    await settle();
    const waits = Promise.all([closeFor(run.gate, 5_000), closeFor(run.gate, 2_000)]);
    let isOver = false;
    void waits.then(() => {
      isOver = true;
    });
    await run.passTime(2_000);
    expect(isOver).toBe(false);
    await run.passTime(3_000);
    await waits;
    await run.end();
    await run.outcome;
  });

  it('fail when the service asks them to wait for the fourth time', async () => {
    const run = startRun(1, () => Promise.reject(new Busy(1_000)));
    await settle();
    for (let tries = 1; tries <= 4; tries++) {
      await run.end();
      await run.passTime(1_000);
    }
    expect((await run.outcome).failed).toEqual([{ item: 0, error: expect.any(Busy) }]);
  });

  it('are left when the user stops, except for those that are under way', async () => {
    const run = startRun(20);
    await settle();
    await run.end(0, 1);
    run.stop();
    await settle();
    expect(run.underWay()).toHaveLength(atOnce);
    await run.end();
    const { done, left } = await run.outcome;
    expect(done).toEqual(items(8));
    expect(left).toEqual(items(20).slice(8));
  });

  it('end at once when the user stops while they wait: with its error if one was tried', async () => {
    const run = startRun(8, (item) => (item === 0 ? Promise.reject(new Busy(30_000)) : undefined));
    await settle();
    await run.end();
    run.stop();
    const { done, failed, left } = await run.outcome;
    expect(done).toEqual([1, 2, 3, 4, 5]);
    expect(failed).toEqual([{ item: 0, error: expect.any(Busy) }]);
    expect(left).toEqual([6, 7]);
  });
});
