import { describe, expect, it } from 'vitest';
import { workQueues } from '../../lib/names/queues.ts';
import { numberSettings } from '../../lib/settings/number-settings.ts';
import { pollingOf, slowAttemptsOf } from '../../lib/settings/polling.ts';

const totalConcurrency = (quota: number) =>
  Object.values(pollingOf(quota)).reduce((sum, { concurrency }) => sum + concurrency, 0);

describe('the polling of queues', () => {
  it('at the usual quota of 1,000 has these defaults', () => {
    expect(pollingOf()).toEqual({
      deliveries: { batchSize: 10, concurrency: 200 },
      slowDeliveries: { batchSize: 10, concurrency: 50 },
      firstRetry: { batchSize: 10, concurrency: 130 },
      secondRetry: { batchSize: 10, concurrency: 130 },
      thirdRetry: { batchSize: 10, concurrency: 130 },
      executions: { batchSize: 1, concurrency: 100 },
    });
  });

  it('leaves a quarter of the usual quota to the API, and at least 23 % of every quota from 41 on', () => {
    expect(totalConcurrency(1_000)).toBeLessThanOrEqual(750);
    const quotas = Array.from({ length: 5_000 }, (_, nth) => 41 + nth);
    expect(Math.max(...quotas.map((quota) => totalConcurrency(quota) / quota))).toBeLessThanOrEqual(0.77);
  });

  it('has the minimum of AWS at the quota of a new account, in total more than that quota', () => {
    for (const name of workQueues) expect(pollingOf(10)[name].concurrency).toBe(2);
    expect(totalConcurrency(10)).toBe(12);
  });

  it('is within the limits of AWS at every quota', () => {
    for (const quota of [1, 10, 333, 5_000, 1_000_000])
      for (const { batchSize, concurrency } of Object.values(pollingOf(quota))) {
        expect(Math.min(1_000, Math.max(2, concurrency))).toBe(concurrency);
        expect(Math.min(10, Math.max(1, batchSize))).toBe(batchSize);
      }
  });

  it('gives one slow webhook half of the concurrency of slow webhooks, and at least one', () => {
    expect([10, 100, 1_000].map((quota) => slowAttemptsOf(pollingOf(quota)))).toEqual([1, 2, 25]);
  });

  it('leaves concurrency to others if one organization runs its maximum of executions', () => {
    expect(pollingOf().executions.concurrency).toBeGreaterThan(numberSettings.runningCap.standard);
  });

  it('has the settings of the deployment, and the defaults for the rest', () => {
    const set = pollingOf(1_000, { deliveries: { concurrency: 400 }, thirdRetry: { batchSize: 3 } });
    expect(set).toEqual({
      ...pollingOf(),
      deliveries: { batchSize: 10, concurrency: 400 },
      thirdRetry: { batchSize: 3, concurrency: 130 },
    });
  });
});
