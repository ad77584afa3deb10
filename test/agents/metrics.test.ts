import { beforeAll, describe, expect, it } from 'vitest';
import { openMetrics } from '../../lib/agents/metrics.ts';
import type { AgentMetrics } from '../../lib/contract/agent-metrics.ts';
import type { ExecutionHead } from '../../lib/table/execution-items.ts';
import type { MetricsStore, Totals } from '../../lib/table/metrics.ts';
import { errorOf } from '../table/board.ts';
import { completed, type ExecutionBoard, failed, openExecutionBoard } from '../table/execution-board.ts';
import { seedMetrics } from '../table/execution-seed.ts';
import { type Came, cameBy, chance, dayMs, executionOf, metricsOf, periods, reckoned } from './metrics-model.ts';

/** The last moment of a leap day. */
const leapDay = Date.parse('2028-02-29T23:59:59.999Z');

const ran: Came = { status: 'running', durationMs: 0, tokensUsed: 0 };

const none: Omit<AgentMetrics, 'period'> = {
  agentName: 'writer',
  executions: { total: 0, completed: 0, failed: 0, running: 0, successRate: 0 },
  performance: { avgDurationMs: 0, p50DurationMs: 0, p95DurationMs: 0 },
  tokens: { total: 0, avgPerExecution: 0 },
};

describe('of 1,000 executions by chance over 95 days, many at the very edges of a day', () => {
  let board: ExecutionBoard;
  let executions: ExecutionHead[];
  beforeAll(async () => {
    board = await openExecutionBoard();
    const next = chance(7);
    executions = Array.from({ length: 1000 }, (_, nth) => {
      const midnight = leapDay + 1 - dayMs * (1 + Math.floor(next() * 95));
      const moment = [0, dayMs - 1, Math.floor(next() * dayMs)][nth % 3] as number;
      return nth < 20
        ? executionOf(board, board.agent, leapDay - nth, ran)
        : executionOf(board, board.agent, midnight + moment, cameBy(next));
    });
    // Another agent's, which must not be among them.
    const other = executionOf(board, await board.hire('reader'), leapDay, cameBy(next));
    await seedMetrics(board.table, board.organization, [...executions, other]);
  });

  it.each([
    ['2028-02-29T23:59:59.999Z'],
    ['2028-03-01T00:00:00.000Z'],
    ['2028-03-06T23:59:59.999Z'],
    ['2028-03-07T00:00:00.000Z'],
    ['2028-03-29T12:00:00.000Z'],
    ['2028-03-31T00:00:00.000Z'],
    ['2028-05-28T23:59:59.999Z'],
    ['2028-05-29T00:00:00.000Z'],
  ])('the metrics of every period are at %s what one reckons from each', async (moment) => {
    board.clock.now = Date.parse(moment);
    for (const period of periods)
      expect(await metricsOf(board).of(board.organization, 'writer', period)).toEqual(
        reckoned('writer', executions, period, board.clock()),
      );
  });
});

describe('the window', () => {
  it.each([
    ['7d', '2028-02-28T12:00:00.000Z', '2028-02-22'],
    ['7d', '2028-03-01T00:00:00.000Z', '2028-02-24'],
    ['7d', '2026-03-01T23:59:59.999Z', '2026-02-23'],
    ['30d', '2028-03-01T00:00:00.000Z', '2028-02-01'],
    ['90d', '2028-01-15T00:00:00.000Z', '2027-10-18'],
  ] as const)('of %s begins at %s with the first moment of %s', async (period, now, first) => {
    const board = await openExecutionBoard();
    board.clock.now = Date.parse(now);
    const edge = Date.parse(first);
    // It ended the day after the one on which it was started.
    const before = executionOf(board, board.agent, edge - 1, { status: 'completed', durationMs: 5000, tokensUsed: 1 });
    await seedMetrics(board.table, board.organization, [before]);
    const read = () => metricsOf(board).of(board.organization, 'writer', period);
    expect(await read()).toEqual({ ...none, period });
    const within = executionOf(board, board.agent, edge, { status: 'failed', durationMs: 700, tokensUsed: 30 });
    await seedMetrics(board.table, board.organization, [within]);
    expect(await read()).toEqual({
      ...{ agentName: 'writer', period },
      executions: { total: 1, completed: 0, failed: 1, running: 0, successRate: 0 },
      performance: { avgDurationMs: 700, p50DurationMs: 700, p95DurationMs: 700 },
      tokens: { total: 30, avgPerExecution: 30 },
    });
  });
});

describe('an agent', () => {
  it('that nobody has asked for anything has zeros, in every period', async () => {
    const board = await openExecutionBoard();
    for (const period of periods)
      expect(await metricsOf(board).of(board.organization, 'writer', period)).toEqual({ ...none, period });
  });

  it('that there is not has none', async () => {
    const board = await openExecutionBoard();
    expect(await errorOf(metricsOf(board).of(board.organization, 'nobody', '7d'))).toMatchObject({
      code: 'not_found',
    });
  });

  it('is told of with each start and each end, and of what failed too', async () => {
    const board = await openExecutionBoard();
    const read = () => metricsOf(board).of(board.organization, 'writer', '7d');
    const [first, second] = [await board.claimed(), await board.claimed()];
    expect((await read()).executions).toEqual({ ...none.executions, total: 2, running: 2 });
    expect((await read()).performance).toEqual(none.performance);
    await board.executions.end(first, completed({ durationMs: 1000, tokensUsed: 3 }), {});
    expect((await read()).executions).toEqual({ total: 2, completed: 1, failed: 0, running: 1, successRate: 1 });
    await board.executions.end(second, failed({ durationMs: 2001, tokensUsed: 4 }), {});
    expect(await read()).toEqual({
      ...{ agentName: 'writer', period: '7d' },
      executions: { total: 2, completed: 1, failed: 1, running: 0, successRate: 0.5 },
      performance: { avgDurationMs: 1501, p50DurationMs: 1000, p95DurationMs: 2001 },
      tokens: { total: 7, avgPerExecution: 4 },
    });
  });

  it('is told of by the day on which an execution was started, though it ended on the next', async () => {
    const board = await openExecutionBoard();
    board.clock.now = Date.parse('2026-01-07T23:59:59.999Z');
    const hand = await board.claimed();
    board.clock.now += 1000;
    await board.executions.end(hand, completed({ durationMs: 1000, completedAt: '2026-01-08T00:00:00.999Z' }), {});
    const completedAt = async (moment: string) => {
      board.clock.now = Date.parse(moment);
      return (await metricsOf(board).of(board.organization, 'writer', '7d')).executions.completed;
    };
    expect(await completedAt('2026-01-13T23:59:59.999Z')).toBe(1);
    expect(await completedAt('2026-01-14T00:00:00.000Z')).toBe(0);
  });
});

describe('of so many finished executions', () => {
  let board: ExecutionBoard;
  beforeAll(async () => {
    board = await openExecutionBoard();
  });

  /** What is decided over numbers as a store would give them. */
  async function decided(numbers: Partial<Totals>, durations: number[] = []) {
    let asked = 0;
    const store: MetricsStore = {
      totals: async () => ({
        ...{ completed: 0, failed: 0, running: 0, tokens: 0, durationMs: 0 },
        ...{ histogram: [{ durationMs: 77, count: 1 }], ...numbers },
      }),
      durations: async () => {
        asked++;
        return durations;
      },
    };
    const metrics = await openMetrics({ store, context: board, clock: board.clock }).of(
      board.organization,
      'writer',
      '30d',
    );
    return { ...metrics, asked };
  }

  it.each([
    [999, 1, 1, 10],
    [1000, 0, 1, 10],
    [1000, 1, 0, 77],
    [0, 1001, 0, 77],
  ])(
    '%i completed and %i failed, the rows are read %i times for percentiles',
    async (completed, failed, times, p50) => {
      const { asked, performance } = await decided({ completed, failed }, [20, 10]);
      expect([asked, performance.p50DurationMs]).toEqual([times, p50]);
    },
  );

  it.each([
    [1, 2, 0.3333],
    [2, 1, 0.6667],
    [99_999, 1, 1],
    [1, 19_999, 0.0001],
    [0, 3, 0],
  ])('%i completed and %i failed, the rate of success is %f', async (completed, failed, rate) => {
    expect((await decided({ completed, failed })).executions.successRate).toBe(rate);
  });

  it.each([
    [1, 1, 1],
    [2, 1, 2],
    [3, 2, 3],
    [19, 10, 19],
    [20, 10, 19],
    [21, 11, 20],
    [1000, 500, 950],
  ])('%i, the percentiles are those of the nearest rank, whatever order they come in', async (count, p50, p95) => {
    const durations = Array.from({ length: count }, (_, nth) => count - nth);
    expect((await decided({ completed: count, failed: 0 }, durations)).performance).toMatchObject({
      ...{ p50DurationMs: p50, p95DurationMs: p95 },
    });
  });

  it('averages are whole numbers, rounded to the nearest', async () => {
    const { performance, tokens } = await decided({ completed: 2, failed: 1, durationMs: 8, tokens: 100 });
    expect([performance.avgDurationMs, tokens.avgPerExecution]).toEqual([3, 33]);
  });
});
