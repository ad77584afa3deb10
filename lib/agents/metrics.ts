import { type AgentMetrics, type Period, periodDays } from '../contract/agent-metrics.ts';
import { notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import { type AgentContext, readAgentHead } from '../table/agents/agents.ts';
import { firstDayOf, readDurations, readTotals, type Totals } from '../table/agents/metrics.ts';

/** Percentiles are exact up to this number of finished executions; above it they come from the histogram. */
const exactUpTo = 1_000;

/**
 * Returns the metrics of an agent in a period, by the day on which each execution was started
 * (docs/architecture.md#agent-metrics).
 *
 * @param filter.prompt the hash of a prompt: counts only its executions
 * @throws `ApiError` `not_found`
 */
export async function getMetrics(
  context: AgentContext & { clock: () => number },
  organization: Organization,
  name: string,
  { period, prompt }: { period: Period; prompt?: string | undefined },
): Promise<AgentMetrics> {
  const agent = await readAgentHead(context, organization, name);
  if (!agent) throw notFound('agent');
  const since = firstDayOf(periodDays[period], context.clock());
  const totals = await readTotals(context, organization, agent.id, { since, promptHash: prompt });
  // The rows that have the durations do not have the prompt.
  const isExact = prompt === undefined && totals.completed + totals.failed <= exactUpTo;
  const durations = isExact
    ? histogramOf(await readDurations(context, organization, agent.id, since))
    : totals.histogram;
  return { agentName: agent.name, period, ...(prompt !== undefined && { prompt }), ...metricsOf(totals, durations) };
}

/** Returns the histogram of durations, each in a bucket of its own, in ascending order. */
export function histogramOf(durations: readonly number[]): Totals['histogram'] {
  return durations.toSorted((a, b) => a - b).map((durationMs) => ({ durationMs, count: 1 }));
}

/** Returns the metrics of totals and of a histogram of durations. */
export function metricsOf(
  { completed, failed, running, tokens, durationMs }: Omit<Totals, 'histogram'> & { running: number },
  durations: Totals['histogram'],
): Omit<AgentMetrics, 'agentName' | 'period' | 'prompt'> {
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

/** Returns the nearest-rank percentile: the shortest duration that `percent` of all do not exceed; 0 without any. */
function percentile(durations: Totals['histogram'], percent: number): number {
  const total = durations.reduce((sum, { count }) => sum + count, 0);
  let rank = Math.ceil((percent / 100) * total);
  for (const { durationMs, count } of durations) {
    rank -= count;
    if (rank <= 0) return Math.round(durationMs);
  }
  return 0;
}
