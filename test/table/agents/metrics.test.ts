import { expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { firstDayOf, metricsWrite } from '../../../lib/table/agents/metrics.ts';
import { keys } from '../../../lib/table/keys.ts';
import { fc } from '../../seeded.ts';
import { completed } from '../executions/execution-table.ts';

const agentId = 'ag_01KE0000000000000000000000';
const day = '2026-01-01';
const organization = 'org' as Organization;

/** The bucket that a duration is counted in. */
function bucketOf(durationMs: number): string {
  const write = metricsWrite(organization, agentId, `${day}T00:00:00.000Z`, completed({ durationMs }));
  return 'Update' in write ? (write.Update.ExpressionAttributeNames?.['#bucket'] as string) : '';
}

/** The least duration of a bucket, and the first above it: each is a tenth wider than the one before. */
function edgesOf(bucket: string): [number, number] {
  const nth = Number(/^h(\d+)$/.exec(bucket)?.[1]);
  return nth === 0 ? [0, 1] : [1.1 ** (nth - 1), 1.1 ** nth];
}

it('the middle of a bucket is within 5 % of every duration in it, up to a day', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 86_400_000 })), (durationMs) => {
      const [from, to] = edgesOf(bucketOf(durationMs));
      expect(durationMs).toBeGreaterThanOrEqual(from);
      expect(durationMs).toBeLessThan(to);
      expect(Math.abs((from + to) / 2 - durationMs) / durationMs).toBeLessThanOrEqual(0.05 + 1e-9);
    }),
    { seed: 2, numRuns: 2000 },
  );
});

it('what took no time has a bucket of its own', () => {
  expect([0, 1].map(bucketOf)).toEqual(['h0', 'h1']);
});

it.each([
  ['2026-01-01T00:00:00.000Z', '2026-01-01'],
  ['2026-01-01T23:59:59.999Z', '2026-01-01'],
  ['2026-01-02T00:00:00.000Z', '2026-01-02'],
])('an execution that was started at %s belongs to the UTC day %s, whenever it ended', (startedAt, date) => {
  const write = metricsWrite(organization, agentId, startedAt, completed({ completedAt: '2026-01-09T12:00:00.000Z' }));
  const key = keys.metricsOfDay(organization, agentId.slice(3), date);
  expect('Update' in write && write.Update.Key).toEqual(key);
});

it.each([
  [1, '2026-03-01T00:00:00.000Z', '2026-03-01'],
  [1, '2026-03-01T23:59:59.999Z', '2026-03-01'],
  [2, '2028-03-01T00:00:00.000Z', '2028-02-29'],
  [2, '2026-03-01T00:00:00.000Z', '2026-02-28'],
  [90, '2026-01-01T00:00:00.000Z', '2025-10-04'],
])('the first of %i days is, at %s, %s', (days, now, first) => {
  expect(firstDayOf(days, Date.parse(now))).toBe(first);
});
