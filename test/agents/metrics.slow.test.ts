import { beforeAll, describe, expect, it } from 'vitest';
import { getMetrics } from '../../lib/agents/metrics.ts';
import type { AgentMetrics, Period } from '../../lib/contract/agent-metrics.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { ExecutionHead, RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { endExecution } from '../../lib/table/executions/executions.ts';
import { completed, type ExecutionBoard, openExecutionBoard } from '../table/executions/execution-board.ts';
import { seedMetrics } from '../table/executions/execution-seed.ts';
import { meter } from '../table/fixtures/capacity.ts';
import { expectAtMost } from '../table/fixtures/cost-limits.ts';
import { cameBy, chance, dayMs, executionOf, periods, reckoned } from './metrics-model.ts';

const now = Date.parse('2026-03-31T12:00:00.000Z');

let board: ExecutionBoard;
let costOf: ReturnType<typeof meter>['costOf'];
beforeAll(async () => {
  board = await openExecutionBoard();
  board.clock.now = now;
  ({ costOf } = meter(board.table));
});

/** An agent and its executions over the last 90 days. `running` of them run. */
async function seeded(name: string, { count, running }: { count: number; running: number }) {
  const agent = await board.hire(name);
  const next = chance(count);
  const executions = Array.from({ length: count }, (_, nth) => {
    const startedMs = now - Math.floor((nth * 89 * dayMs) / count);
    return executionOf(
      board,
      agent,
      startedMs,
      nth < running ? { status: 'running', durationMs: 0, tokensUsed: 0 } : cameBy(next),
    );
  });
  // Of more than 1,000 the rows are not read.
  await seedMetrics(board.table, board.organization, executions, count - running <= 1000);
  return { agent, executions };
}

/** What an agent's metrics are, and what it costs to read them. */
async function read(name: string, period: Period) {
  const came: AgentMetrics[] = [];
  const cost = await costOf(async () => {
    came.push(await getMetrics(board, board.organization, name, period));
  });
  return { metrics: came[0] as AgentMetrics, cost };
}

/** Holds metrics to what one reckons: percentiles within 5 %, and the whole millisecond; the rest exactly. */
function expectNear(metrics: AgentMetrics, right: AgentMetrics): void {
  const { p50DurationMs, p95DurationMs } = right.performance;
  expect({ ...metrics, performance: { ...metrics.performance, p50DurationMs, p95DurationMs } }).toEqual(right);
  for (const percentile of ['p50DurationMs', 'p95DurationMs'] as const) {
    const off = Math.abs(metrics.performance[percentile] - right.performance[percentile]);
    expect(off).toBeLessThanOrEqual(0.05 * right.performance[percentile] + 0.5);
  }
}

describe('of 20,000 executions in 90 days', () => {
  let executions: ExecutionHead[];
  beforeAll(async () => {
    ({ executions } = await seeded('busy', { count: 20_000, running: 0 }));
  }, 120_000);

  it.each(periods)('all of %s is exact but the percentiles, which are within 5 %', async (period) => {
    const { metrics } = await read('busy', period);
    expect(metrics.executions.total).toBeGreaterThan(1000);
    expectNear(metrics, reckoned('busy', executions, period, now));
  });

  it('costs two requests and 20 read units beside the look-up of the agent', async () => {
    const { cost } = await read('busy', '90d');
    expectAtMost(cost, { requests: 1 + 2, rcu: 1 + 20, wcu: 0 });
  });
});

describe('of exactly 1,000 finished executions in 90 days, and 20 that run', () => {
  let agent: StoredAgent;
  let executions: ExecutionHead[];
  beforeAll(async () => {
    ({ agent, executions } = await seeded('steady', { count: 1020, running: 20 }));
  }, 60_000);

  it('all is exact, at four requests and 75 read units beside the look-up of the agent', async () => {
    const { metrics, cost } = await read('steady', '90d');
    expect(metrics).toEqual(reckoned('steady', executions, '90d', now));
    expectAtMost(cost, { requests: 1 + 4, rcu: 1 + 75, wcu: 0 });
  });

  it('with one more the percentiles are of the histogram, and the rows are not read', async () => {
    const more = executionOf(board, agent, now, { status: 'completed', durationMs: 3, tokensUsed: 9 });
    const hand = await board.leased(await board.start(executionAt(more)));
    await endExecution(board, hand, completed({ durationMs: 3, tokensUsed: 9 }), {});
    const { metrics, cost } = await read('steady', '90d');
    const right = reckoned('steady', [...executions, more], '90d', now);
    expectNear(metrics, right);
    expect(metrics.performance).not.toEqual(right.performance);
    expectAtMost(cost, { requests: 1 + 3, rcu: 1 + 20, wcu: 0 });
  });
});

/** An execution as it was when it was started. */
function executionAt({ id, agentId, agentName, model }: ExecutionHead): RunningExecution {
  return board.newExecution({ id, agentId, agentName, model });
}
