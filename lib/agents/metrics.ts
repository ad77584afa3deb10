import { type AgentMetrics, type Period, periodDays } from '../contract/agent-metrics.ts';
import { notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import { type AgentContext, readAgentHead } from '../table/agents.ts';
import { firstDayOf, type MetricsStore, type Totals } from '../table/metrics.ts';

/** Up to so many finished executions their durations are read one by one; above, percentiles are of the histogram. */
const exactUpTo = 1_000;

/** Metrics of agents (docs/architecture.md#agent-metrics). */
export function openMetrics({
  store,
  context,
  clock,
}: {
  store: MetricsStore;
  context: AgentContext;
  clock: () => number;
}) {
  return {
    /**
     * How an agent has done in the last days, by the day on which each execution was started.
     *
     * @throws `ApiError` `not_found`
     */
    async of(organization: Organization, name: string, period: Period): Promise<AgentMetrics> {
      const agent = await readAgentHead(context, organization, name);
      if (!agent) throw notFound();
      const since = firstDayOf(periodDays[period], clock());
      const totals = await store.totals(organization, agent.id, since);
      const finished = totals.completed + totals.failed;
      const durations =
        finished > exactUpTo
          ? totals.histogram
          : (await store.durations(organization, agent.id, since))
              .sort((a, b) => a - b)
              .map((durationMs) => ({ durationMs, count: 1 }));
      return { agentName: agent.name, period, ...metricsOf(totals, durations) };
    },
  };
}

function metricsOf(
  { completed, failed, running, tokens, durationMs }: Totals & { running: number },
  durations: Totals['histogram'],
): Omit<AgentMetrics, 'agentName' | 'period'> {
  const finished = completed + failed;
  const average = (sum: number) => (finished === 0 ? 0 : Math.round(sum / finished));
  return {
    executions: {
      total: finished + running,
      completed,
      failed,
      running,
      successRate: finished === 0 ? 0 : Math.round((completed / finished) * 10_000) / 10_000,
    },
    performance: {
      avgDurationMs: average(durationMs),
      p50DurationMs: percentile(durations, 50),
      p95DurationMs: percentile(durations, 95),
    },
    tokens: { total: tokens, avgPerExecution: average(tokens) },
  };
}

/** The nearest-rank percentile: the least duration that so many in a hundred do not exceed; 0 of none. */
function percentile(durations: Totals['histogram'], percent: number): number {
  const total = durations.reduce((sum, { count }) => sum + count, 0);
  let rank = Math.ceil((percent / 100) * total);
  for (const { durationMs, count } of durations) {
    rank -= count;
    if (rank <= 0) return Math.round(durationMs);
  }
  return 0;
}
