import { beforeAll, describe, expect, it } from 'vitest';
import { getMetrics, histogramOf, metricsOf } from '../../lib/agents/metrics.ts';
import type { AgentMetrics, Period } from '../../lib/contract/agent-metrics.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { endExecution } from '../../lib/table/executions/executions.ts';
import { seedMetrics } from '../table/executions/execution-seed.ts';
import { completed, createExecutionTable, type ExecutionTable } from '../table/executions/execution-table.ts';
import { meter } from '../table/fixtures/capacity.ts';
import { expectAtMost } from '../table/fixtures/cost-limits.ts';
import { dayMs, executionAt } from './execution-at.ts';

const now = Date.parse('2026-03-31T12:00:00.000Z');
const firstDays = { '7d': '2026-03-25', '30d': '2026-03-02', '90d': '2026-01-01' };

let board: ExecutionTable;
let costOf: ReturnType<typeof meter>['costOf'];
beforeAll(async () => {
  board = await createExecutionTable();
  board.clock.now = now;
  ({ costOf } = meter(board.table));
});

/** Creates an agent with executions over the last 90 days, of which the newest `running` run and one in seven failed. */
async function createAgentWith(name: string, count: number, running: number): Promise<ExecutionHead[]> {
  const agent = await board.createAgent(name);
  const executions = Array.from({ length: count }, (_, nth) => {
    const status = nth % 7 === 0 ? ('failed' as const) : ('completed' as const);
    const end = { status, durationMs: (nth * 7919) % 500_000, tokensUsed: nth % 1000 };
    return executionAt(board, now - Math.floor((nth * 89 * dayMs) / count), nth < running ? undefined : end, agent);
  });
  // The rows of more than 1,000 ended executions are not read.
  await seedMetrics(board.table, board.organization, executions, count - running <= 1000);
  return executions;
}

/** Reads the metrics of an agent, and returns them with the cost of the read. */
async function read(agentName: string, period: Period) {
  let metrics: AgentMetrics | undefined;
  const cost = await costOf(async () => {
    metrics = await getMetrics(board, board.organization, agentName, period);
  });
  return { metrics: metrics as AgentMetrics, cost };
}

/** Returns the metrics of executions, calculated from each of them. */
function expectedMetrics(agentName: string, executions: readonly ExecutionHead[], period: Period): AgentMetrics {
  const counted = executions.filter(({ startedAt }) => startedAt >= firstDays[period]);
  const count = (status: string) => counted.filter((execution) => execution.status === status).length;
  const durations = counted.flatMap(({ durationMs }) => durationMs ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const totals = {
    ...{ completed: count('completed'), failed: count('failed'), running: count('running') },
    ...{ tokens: sum(counted.flatMap(({ tokensUsed }) => tokensUsed ?? [])), durationMs: sum(durations) },
  };
  return { agentName, period, ...metricsOf(totals, histogramOf(durations)) };
}

/** Checks that percentiles are within 5 % and half a millisecond, and all other metrics are exact. */
function expectNear(metrics: AgentMetrics, expected: AgentMetrics): void {
  const { p50DurationMs, p95DurationMs } = expected.performance;
  expect({ ...metrics, performance: { ...metrics.performance, p50DurationMs, p95DurationMs } }).toEqual(expected);
  for (const percentile of ['p50DurationMs', 'p95DurationMs'] as const) {
    const difference = Math.abs(metrics.performance[percentile] - expected.performance[percentile]);
    expect(difference).toBeLessThanOrEqual(0.05 * expected.performance[percentile] + 0.5);
  }
}

it('the metrics of 20,000 executions are exact except the percentiles, and cost two requests and 20 read units', async () => {
  const executions = await createAgentWith('busy', 20_000, 0);
  for (const period of ['7d', '30d', '90d'] as const) {
    const { metrics, cost } = await read('busy', period);
    expect(metrics.executions.total).toBeGreaterThan(1000);
    expectNear(metrics, expectedMetrics('busy', executions, period));
    // One request reads the agent.
    expectAtMost(cost, { requests: 1 + 2, rcu: 1 + 20, wcu: 0 });
  }
}, 120_000);

describe('the metrics of exactly 1,000 ended executions and 20 that run', () => {
  let executions: ExecutionHead[];
  beforeAll(async () => {
    executions = await createAgentWith('steady', 1020, 20);
  }, 60_000);

  it('are exact, and cost four requests and 75 read units', async () => {
    const { metrics, cost } = await read('steady', '90d');
    expect(metrics).toEqual(expectedMetrics('steady', executions, '90d'));
    expectAtMost(cost, { requests: 1 + 4, rcu: 1 + 75, wcu: 0 });
  });

  it('and one more have percentiles of the histogram, and their rows are not read', async () => {
    const [{ agentId = '', agentName = '', model = '' } = {}] = executions;
    const started = await board.start(board.newExecution({ agentId, agentName, model }));
    await endExecution(board, await board.leased(started), completed({ durationMs: 3, tokensUsed: 9 }), {});
    const { metrics, cost } = await read('steady', '90d');
    const more: ExecutionHead = { ...started, ...completed({ durationMs: 3, tokensUsed: 9 }) };
    const expected = expectedMetrics('steady', [...executions, more], '90d');
    expectNear(metrics, expected);
    expect(metrics.performance).not.toEqual(expected.performance);
    expectAtMost(cost, { requests: 1 + 3, rcu: 1 + 20, wcu: 0 });
  });
});
