import { beforeAll, describe, expect, it } from 'vitest';
import { getMetrics, histogramOf, metricsOf } from '../../lib/agents/metrics.ts';
import type { AgentMetrics } from '../../lib/contract/agent-metrics.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { endExecution } from '../../lib/table/executions/executions.ts';
import { completed, type ExecutionBoard, failed, openExecutionBoard } from '../table/executions/execution-board.ts';
import { seedMetrics } from '../table/executions/execution-seed.ts';
import { errorOf } from '../table/tasks/board.ts';
import { type Came, cameBy, chance, dayMs, executionOf, periods, reckoned } from './metrics-model.ts';

/** The last moment of a leap day. */
const leapDay = Date.parse('2028-02-29T23:59:59.999Z');

const ran: Came = { status: 'running', durationMs: 0, tokensUsed: 0 };

/** The totals of an agent without executions. */
const nothing = { completed: 0, failed: 0, running: 0, tokens: 0, durationMs: 0 };

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
      expect(await getMetrics(board, board.organization, 'writer', period)).toEqual(
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
    const read = () => getMetrics(board, board.organization, 'writer', period);
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
  it('without executions has zeros, in every period', async () => {
    const board = await openExecutionBoard();
    for (const period of periods)
      expect(await getMetrics(board, board.organization, 'writer', period)).toEqual({ ...none, period });
  });

  it('that does not exist is not found', async () => {
    const board = await openExecutionBoard();
    expect(await errorOf(getMetrics(board, board.organization, 'absent-agent', '7d'))).toMatchObject({
      code: 'not_found',
    });
  });

  it('counts each start and each end at once, failed ones too', async () => {
    const board = await openExecutionBoard();
    const read = () => getMetrics(board, board.organization, 'writer', '7d');
    const [first, second] = [await board.leased(), await board.leased()];
    expect((await read()).executions).toEqual({ ...none.executions, total: 2, running: 2 });
    expect((await read()).performance).toEqual(none.performance);
    await endExecution(board, first, completed({ durationMs: 1000, tokensUsed: 3 }), {});
    expect((await read()).executions).toEqual({ total: 2, completed: 1, failed: 0, running: 1, successRate: 1 });
    await endExecution(board, second, failed({ durationMs: 2001, tokensUsed: 4 }), {});
    expect(await read()).toEqual({
      ...{ agentName: 'writer', period: '7d' },
      executions: { total: 2, completed: 1, failed: 1, running: 0, successRate: 0.5 },
      performance: { avgDurationMs: 1501, p50DurationMs: 1000, p95DurationMs: 2001 },
      tokens: { total: 7, avgPerExecution: 4 },
    });
  });

  it('counts an execution on the day of its start, though it ended on the next', async () => {
    const board = await openExecutionBoard();
    board.clock.now = Date.parse('2026-01-07T23:59:59.999Z');
    const hand = await board.leased();
    board.clock.now += 1000;
    await endExecution(board, hand, completed({ durationMs: 1000, completedAt: '2026-01-08T00:00:00.999Z' }), {});
    const completedAt = async (moment: string) => {
      board.clock.now = Date.parse(moment);
      return (await getMetrics(board, board.organization, 'writer', '7d')).executions.completed;
    };
    expect(await completedAt('2026-01-13T23:59:59.999Z')).toBe(1);
    expect(await completedAt('2026-01-14T00:00:00.000Z')).toBe(0);
  });
});

describe('percentiles', () => {
  /** Writes only the totals of a day and the items of durations of this number of ends. */
  async function readWith({ completed, failed }: { completed: number; failed: number }) {
    const board = await openExecutionBoard();
    const ends = { completed, failed };
    const executions = (['completed', 'failed'] as const).flatMap((status) =>
      Array.from({ length: ends[status] }, (_, nth) =>
        executionOf(board, board.agent, board.clock() - nth, { status, durationMs: 1000, tokensUsed: 1 }),
      ),
    );
    await seedMetrics(board.table, board.organization, executions);
    return (await getMetrics(board, board.organization, 'writer', '7d')).performance.p50DurationMs;
  }

  // The histogram returns the middle of the bucket of 1,000 ms.
  it.each([
    [999, 1, 1000],
    [1000, 0, 1000],
    [1000, 1, 1002],
    [0, 1001, 1002],
  ])('of %i completed and %i failed are exact up to 1,000: %i ms', async (completed, failed, p50) => {
    expect(await readWith({ completed, failed })).toBe(p50);
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

describe('of totals', () => {
  it.each([
    [1, 2, 0.3333],
    [2, 1, 0.6667],
    [99_999, 1, 1],
    [1, 19_999, 0.0001],
    [0, 3, 0],
  ])('%i completed and %i failed, the success rate is %f', (completed, failed, rate) => {
    expect(metricsOf({ ...nothing, completed, failed }, []).executions.successRate).toBe(rate);
  });

  it('the averages are whole numbers, rounded to the nearest', () => {
    const totals = { ...nothing, completed: 2, failed: 1, durationMs: 8, tokens: 100 };
    const { performance, tokens } = metricsOf(totals, []);
    expect([performance.avgDurationMs, tokens.avgPerExecution]).toEqual([3, 33]);
  });
});
