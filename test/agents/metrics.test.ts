import { ulid } from 'ulid';
import { expect, it } from 'vitest';
import { getMetrics, histogramOf, metricsOf } from '../../lib/agents/metrics.ts';
import type { AgentMetrics, Period } from '../../lib/contract/agent-metrics.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { seedMetrics } from '../table/executions/execution-seed.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from '../table/executions/execution-table.ts';
import { meter } from '../table/fixtures/capacity.ts';
import { expectAtMost } from '../table/fixtures/cost-limits.ts';

const dayMs = 24 * 60 * 60_000;

/** The totals of an agent without executions. */
const nothing = { completed: 0, failed: 0, running: 0, tokens: 0, durationMs: 0 };

type TestEnd = { status: 'completed' | 'failed'; durationMs: number; tokensUsed: number };

/** Returns an execution as its start and its end would store it; it runs if it has no end. */
function executionAt(board: ExecutionTable, startedMs: number, end?: TestEnd): ExecutionHead {
  const running = board.newExecution({ id: `ex_${ulid(startedMs)}` });
  if (!end) return running;
  const ending = { ...end, completedAt: timestamp(startedMs + end.durationMs) };
  return { ...running, ...(end.status === 'failed' ? failed(ending) : completed(ending)) };
}

const read = (board: ExecutionTable, period: Period) => getMetrics(board, board.organization, 'writer', { period });

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

// One request reads the agent.
it.each([
  { ended: 1_000, running: 20, most: { requests: 1 + 4, rcu: 1 + 75 } },
  { ended: 1_001, running: 20, most: { requests: 1 + 3, rcu: 1 + 20 } },
  { ended: 20_000, running: 0, most: { requests: 1 + 2, rcu: 1 + 20 } },
])('the metrics of $ended ended executions and $running that run cost at most $most', async ({ ended, ...rest }) => {
  const { running, most } = rest;
  const board = await createExecutionTable();
  const ends = Array.from({ length: ended }, (_, nth): TestEnd => {
    const status = nth % 7 === 0 ? 'failed' : 'completed';
    return { status, durationMs: (nth * 7919) % 500_000, tokensUsed: nth % 1000 };
  });
  const executions = [...ends, ...Array<undefined>(running).fill(undefined)].map((end, nth) =>
    executionAt(board, board.clock() - Math.floor((nth * 89 * dayMs) / (ended + running)), end),
  );
  // The rows of more than 1,000 ended executions are not read, except of those that run.
  await seedMetrics(board.table, board.organization, executions, ended <= 1_001);
  let metrics: AgentMetrics | undefined;
  const cost = await meter(board.table).costOf(async () => {
    metrics = await read(board, '90d');
  });
  expectAtMost(cost, { ...most, wcu: 0 });

  const sumOf = (field: 'durationMs' | 'tokensUsed') => ends.reduce((sum, end) => sum + end[field], 0);
  const failures = Math.ceil(ended / 7);
  const totals = { completed: ended - failures, failed: failures, running };
  const sums = { tokens: sumOf('tokensUsed'), durationMs: sumOf('durationMs') };
  const durations = histogramOf(ends.map(({ durationMs }) => durationMs));
  const expected = metricsOf({ ...totals, ...sums }, durations);
  expect(metrics).toMatchObject({ executions: expected.executions, tokens: expected.tokens });
  expect(metrics?.performance.avgDurationMs).toBe(expected.performance.avgDurationMs);
  // Percentiles are exact up to 1,000 ended executions, and within 5 % above.
  for (const percentile of ['p50DurationMs', 'p95DurationMs'] as const) {
    const [found = 0, exact] = [metrics?.performance[percentile], expected.performance[percentile]];
    expect(found === exact).toBe(ended <= 1_000);
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.05 * exact + 0.5);
  }
});

it.each([
  [1, 1, 1],
  [2, 1, 2],
  [3, 2, 3],
  [19, 10, 19],
  [20, 10, 19],
  [21, 11, 20],
  [1000, 500, 950],
])(
  'the percentiles of %i durations are those of the nearest rank, whatever their order',
  (count, p50DurationMs, p95DurationMs) => {
    const durations = histogramOf(Array.from({ length: count }, (_, nth) => count - nth));
    const { performance } = metricsOf({ ...nothing, completed: count }, durations);
    expect(performance).toMatchObject({ p50DurationMs, p95DurationMs });
  },
);

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
