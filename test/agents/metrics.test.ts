import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { getExecutionMetrics, getMetrics, histogramOf, metricsOf } from '../../lib/agents/metrics.ts';
import {
  type AgentMetrics,
  type ExecutionMetrics,
  type Period,
  periodDays,
} from '../../lib/contract/agents/agent-metrics.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { keys } from '../../lib/table/access/keys.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { endExecution } from '../../lib/table/executions/executions.ts';
import { noTotals } from '../../lib/table/executions/metrics.ts';
import { fc } from '../seeded.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { seedMetrics } from '../table/executions/execution-seed.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from '../table/executions/execution-table.ts';
import { meter } from '../table/fixtures/capacity.ts';
import { expectAtMost } from '../table/fixtures/cost-limits.ts';
import { writeItems } from '../table/tasks/seed.ts';

const dayMs = 24 * 60 * 60_000;

/** The totals of an agent without executions. */
const nothing = noTotals();

type TestEnd = { status: 'completed' | 'failed'; durationMs: number; tokensUsed: number };

/** Returns an execution as its start and its end would store it; it runs if it has no end. */
function executionAt(board: ExecutionTable, startedMs: number, end?: TestEnd, agent?: StoredAgent): ExecutionHead {
  const running = board.newExecution({ id: `ex_${ulid(startedMs)}` }, agent);
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
  expect(await read(board, period)).toEqual({ agentName: 'writer', period, ...metricsOf(nothing) });
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
  { ended: 1_000, running: 20, most: { requests: 1 + 7, rcu: 1 + 84 } },
  { ended: 1_001, running: 20, most: { requests: 1 + 5, rcu: 1 + 20 } },
  { ended: 20_000, running: 0, most: { requests: 1 + 3, rcu: 1 + 20 } },
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
  // The rows of more than 1,000 ended executions are not read, except of running executions.
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
  const histogram = histogramOf(ends.map(({ durationMs }) => durationMs));
  const expected = metricsOf({ ...totals, ...sums, histogram });
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
    const histogram = histogramOf(Array.from({ length: count }, (_, nth) => count - nth));
    const { performance } = metricsOf({ ...nothing, completed: count, histogram });
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
  expect(metricsOf({ ...nothing, completed, failed }).executions.successRate).toBe(rate);
});

it('the averages are whole numbers, rounded to the nearest', () => {
  const totals = { ...nothing, completed: 2, failed: 1, durationMs: 8, tokens: 100 };
  const { performance, tokens } = metricsOf(totals);
  expect([performance.avgDurationMs, tokens.avgPerExecution]).toEqual([3, 33]);
});

describe('the metrics of an organization', () => {
  // The agents have 2,700 items of metrics, which are not read.
  it.each([1, 1_000])(
    'cost the same with %i agents: 3 requests and at most 6 read units for 90 days',
    async (count) => {
      const board = await createExecutionTable();
      const agents = Array.from({ length: count }, (_, nth) => storedAgent({ name: `writer-${nth}` }));
      const executions = Array.from({ length: 2_720 }, (_, nth) => {
        const durationMs = (nth * 7919) % 500_000;
        const end = { status: 'completed', durationMs, tokensUsed: nth } as const;
        const startedMs = nth < 2_700 ? board.clock() - Math.floor((nth * 89 * dayMs) / 2_700) : board.clock();
        return executionAt(board, startedMs, nth < 2_700 ? end : undefined, agents[nth % count]);
      });
      await seedMetrics(board.table, board.organization, executions);
      let metrics: ExecutionMetrics | undefined;
      const cost = await meter(board.table).costOf(async () => {
        metrics = await getExecutionMetrics(board, board.organization, { period: '90d' });
      });
      expectAtMost(cost, { requests: 3, rcu: 6, wcu: 0 });
      expect(metrics?.executions).toEqual({ total: 2_720, completed: 2_700, failed: 0, running: 20, successRate: 1 });
    },
  );

  it('cost at most 32 read units if every day has executions of every duration up to two hours', async () => {
    const board = await createExecutionTable();
    const histogram = Object.fromEntries(Array.from({ length: 167 }, (_, bucket) => [`h${bucket}`, 10_001]));
    const days = Array.from({ length: 90 }, (_, ago) => {
      const date = timestamp(board.clock() - ago * dayMs).slice(0, 10);
      const sums = { completed: 1_670_167, failed: 1_000_001, tokens: 12_345_678_901, durationMs: 123_456_789_012 };
      return { ...keys.metricsOfDay(board.organization, date), ...sums, ...histogram };
    });
    await writeItems(board.table, days);
    const cost = await meter(board.table).costOf(() =>
      getExecutionMetrics(board, board.organization, { period: '90d' }),
    );
    expectAtMost(cost, { requests: 2, rcu: 32, wcu: 0 });
  });
});

const prompts = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`];
const randomEnd = fc.record({
  status: fc.constantFrom('completed' as const, 'failed' as const),
  durationMs: fc.oneof(fc.nat(20), fc.nat(600_000)),
  tokensUsed: fc.nat(100_000),
});
const randomExecution = fc.record({
  agent: fc.nat(1),
  daysAgo: fc.oneof(fc.nat(3), fc.nat(95)),
  msBeforeMidnight: fc.oneof(fc.constantFrom(1, dayMs), fc.integer({ min: 1, max: dayMs })),
  promptHash: fc.constantFrom(...prompts),
  end: fc.option(randomEnd, { nil: undefined, freq: 6 }),
});

/** An execution of the model with which metrics are compared. */
type Modelled = { agent: number; date: string; promptHash: string; end: TestEnd | undefined };

const nearestRank = (durations: readonly number[], percent: number) =>
  durations.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * durations.length) - 1] ?? 0;

/** Returns the metrics of the executions of a day. */
function dayOf(executions: readonly Modelled[], date: string) {
  const started = executions.filter((one) => one.date === date);
  const ends = started.flatMap(({ end }) => end ?? []);
  const durations = ends.map(({ durationMs }) => durationMs);
  return {
    date,
    total: started.length,
    failed: ends.filter(({ status }) => status === 'failed').length,
    tokens: ends.reduce((sum, { tokensUsed }) => sum + tokensUsed, 0),
    p50DurationMs: nearestRank(durations, 50),
    p95DurationMs: nearestRank(durations, 95),
  };
}

/** Checks a series, and that its days add up to the totals. Percentiles have an error of at most 5 % unless they are exact. */
function expectSeries(
  { executions, tokens, series = [] }: Pick<AgentMetrics, 'executions' | 'tokens' | 'series'>,
  expected: readonly ReturnType<typeof dayOf>[],
  isExact: boolean,
): void {
  const withoutPercentiles = ({ date, total, failed, tokens }: ReturnType<typeof dayOf>) => ({
    ...{ date, total, failed, tokens },
  });
  expect(series.map(withoutPercentiles)).toEqual(expected.map(withoutPercentiles));
  for (const [nth, day] of expected.entries())
    for (const percentile of ['p50DurationMs', 'p95DurationMs'] as const) {
      const error = Math.abs((series[nth]?.[percentile] ?? Number.NaN) - day[percentile]);
      expect(error).toBeLessThanOrEqual(isExact ? 0 : 0.05 * day[percentile] + 0.5);
    }
  const sumOf = (field: 'total' | 'failed' | 'tokens') => expected.reduce((sum, day) => sum + day[field], 0);
  expect([executions.total, executions.failed, tokens.total]).toEqual([
    sumOf('total'),
    sumOf('failed'),
    sumOf('tokens'),
  ]);
}

it('a series equals a model of random executions, for the organization, each agent and each prompt', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(randomExecution, { minLength: 40, maxLength: 40 }), async (random) => {
      const board = await createExecutionTable();
      // 2028 has a 29 February.
      board.clock.now = Date.parse('2028-03-02T23:59:59.999Z');
      const agents = [board.agent, await board.createAgent('reader')] as const;
      const executions: Modelled[] = [];
      for (const { agent, daysAgo, msBeforeMidnight, promptHash, end } of random) {
        // No execution runs for more than a few hours.
        const startedMs = board.clock() + 1 - (end ? daysAgo : daysAgo % 2) * dayMs - msBeforeMidnight;
        const started = board.newExecution({ id: `ex_${ulid(startedMs)}`, promptHash }, agents[agent]);
        const execution = await board.leased(await board.start(started));
        const ending = end && { ...end, completedAt: timestamp(startedMs + end.durationMs) };
        if (ending)
          await endExecution(board, execution, end.status === 'failed' ? failed(ending) : completed(ending), {});
        executions.push({ agent, date: new Date(startedMs).toISOString().slice(0, 10), promptHash, end });
      }
      for (const period of ['7d', '30d', '90d'] as const) {
        const dates = Array.from({ length: periodDays[period] }, (_, ago) =>
          new Date(board.clock() - ago * dayMs).toISOString().slice(0, 10),
        ).reverse();
        const expected = (counts: (execution: Modelled) => boolean) => {
          const counted = executions.filter(counts);
          return dates.map((date) => dayOf(counted, date));
        };
        const all = await getExecutionMetrics(board, board.organization, { period });
        expectSeries(
          all,
          expected(() => true),
          false,
        );
        for (const [nth, { name }] of agents.entries()) {
          const of = (prompt?: string) =>
            getMetrics(board, board.organization, name, { period, prompt, series: 'daily' });
          expectSeries(
            await of(),
            expected(({ agent }) => agent === nth),
            true,
          );
          for (const prompt of prompts)
            expectSeries(
              await of(prompt),
              expected(({ agent, promptHash }) => agent === nth && promptHash === prompt),
              false,
            );
        }
      }
    }),
    { numRuns: 3, endOnFailure: true },
  );
});
