import { describe, expect, it } from 'vitest';
import { readRunningCap } from '../../lib/agents/executions.ts';
import { workQueues } from '../../lib/contract/deployment.ts';
import { pollingOf } from '../../lib/contract/polling.ts';

const callsAtOnce = (quota: number) =>
  Object.values(pollingOf(quota)).reduce((sum, { concurrency }) => sum + concurrency, 0);

describe('the polling of queues', () => {
  it('at the usual quota of 1,000 has these defaults', () => {
    expect(pollingOf()).toEqual({
      deliveries: { batchSize: 10, concurrency: 200 },
      slowDeliveries: { batchSize: 10, concurrency: 60 },
      firstRetry: { batchSize: 10, concurrency: 70 },
      secondRetry: { batchSize: 10, concurrency: 70 },
      thirdRetry: { batchSize: 10, concurrency: 70 },
      executions: { batchSize: 1, concurrency: 100 },
      purges: { batchSize: 1, concurrency: 2 },
    });
  });

  it('leaves at least 40 % of every quota from 32 on to the API', () => {
    for (let quota = 32; quota <= 20_000; quota++) expect(callsAtOnce(quota) / quota).toBeLessThanOrEqual(0.6);
  });

  it('has the least that AWS accepts at the quota of a new account, which is more than that quota', () => {
    for (const name of workQueues) expect(pollingOf(10)[name].concurrency).toBe(2);
    expect(callsAtOnce(10)).toBe(14);
  });

  it('stays within what AWS accepts at every quota', () => {
    for (const quota of [1, 10, 333, 5_000, 1_000_000])
      for (const { batchSize, concurrency } of Object.values(pollingOf(quota))) {
        expect(Math.min(1_000, Math.max(2, concurrency))).toBe(concurrency);
        expect(Math.min(10, Math.max(1, batchSize))).toBe(batchSize);
      }
  });

  it('leaves places to others when one organization runs all executions that it may', () => {
    expect(pollingOf().executions.concurrency).toBeGreaterThan(readRunningCap(undefined));
  });

  it('is what a deployment sets, and the default for the rest', () => {
    const set = pollingOf(1_000, { deliveries: { concurrency: 400 }, purges: { batchSize: 3 } });
    expect(set).toEqual({
      ...pollingOf(),
      deliveries: { batchSize: 10, concurrency: 400 },
      purges: { batchSize: 3, concurrency: 2 },
    });
  });
});
