import { describe, expect, it } from 'vitest';
import { getMetrics, histogramOf, metricsOf } from '../../lib/agents/metrics.ts';
import type { Period } from '../../lib/contract/agent-metrics.ts';
import { seedMetrics } from '../table/executions/execution-seed.ts';
import { createExecutionTable, type ExecutionTable } from '../table/executions/execution-table.ts';
import { executionAt } from './execution-at.ts';

/** The totals of an agent without executions. */
const nothing = { completed: 0, failed: 0, running: 0, tokens: 0, durationMs: 0 };

const read = (board: ExecutionTable, period: Period = '7d') => getMetrics(board, board.organization, 'writer', period);

it.each([
  ['7d', '2028-02-28T12:00:00.000Z', '2028-02-22'],
  ['7d', '2028-03-01T00:00:00.000Z', '2028-02-24'],
  ['7d', '2026-03-01T23:59:59.999Z', '2026-02-23'],
  ['30d', '2028-03-01T00:00:00.000Z', '2028-02-01'],
  ['90d', '2028-01-15T00:00:00.000Z', '2027-10-18'],
] as const)('the window of %s begins at %s with the first moment of %s', async (period, now, first) => {
  const board = await createExecutionTable();
  board.clock.now = Date.parse(now);
  const edge = Date.parse(first);
  // It ended on the day after its start.
  const before = executionAt(board, edge - 1, { status: 'completed', durationMs: 5000, tokensUsed: 1 });
  await seedMetrics(board.table, board.organization, [before]);
  expect(await read(board, period)).toEqual({ agentName: 'writer', period, ...metricsOf(nothing, []) });
  const within = executionAt(board, edge, { status: 'failed', durationMs: 700, tokensUsed: 30 });
  await seedMetrics(board.table, board.organization, [within]);
  expect(await read(board, period)).toEqual({
    ...{ agentName: 'writer', period },
    executions: { total: 1, completed: 0, failed: 1, running: 0, successRate: 0 },
    performance: { avgDurationMs: 700, p50DurationMs: 700, p95DurationMs: 700 },
    tokens: { total: 30, avgPerExecution: 30 },
  });
});

describe('percentiles', () => {
  // The histogram returns the middle of the bucket of 1,000 ms.
  it.each([
    [999, 1, 1000],
    [1000, 1, 1002],
    [0, 1001, 1002],
  ])('of %i completed and %i failed executions are exact up to 1,000: %i ms', async (completed, failed, p50) => {
    const board = await createExecutionTable();
    const executions = Array.from({ length: completed + failed }, (_, nth) => {
      const status = nth < completed ? 'completed' : 'failed';
      return executionAt(board, board.clock() - nth, { status, durationMs: 1000, tokensUsed: 1 });
    });
    await seedMetrics(board.table, board.organization, executions);
    expect((await read(board)).performance.p50DurationMs).toBe(p50);
  });

  it.each([
    [1, 1, 1],
    [2, 1, 2],
    [3, 2, 3],
    [19, 10, 19],
    [20, 10, 19],
    [21, 11, 20],
    [1000, 500, 950],
  ])('of %i durations are those of the nearest rank, whatever their order', (count, p50DurationMs, p95DurationMs) => {
    const durations = histogramOf(Array.from({ length: count }, (_, nth) => count - nth));
    const { performance } = metricsOf({ ...nothing, completed: count }, durations);
    expect(performance).toMatchObject({ p50DurationMs, p95DurationMs });
  });
});

it.each([
  [1, 2, 0.3333],
  [2, 1, 0.6667],
  [99_999, 1, 1],
  [1, 19_999, 0.0001],
  [0, 3, 0],
])('of %i completed and %i failed executions, the success rate is %f', (completed, failed, rate) => {
  expect(metricsOf({ ...nothing, completed, failed }, []).executions.successRate).toBe(rate);
});

it('the averages are whole numbers, rounded to the nearest', () => {
  const totals = { ...nothing, completed: 2, failed: 1, durationMs: 8, tokens: 100 };
  const { performance, tokens } = metricsOf(totals, []);
  expect([performance.avgDurationMs, tokens.avgPerExecution]).toEqual([3, 33]);
});
