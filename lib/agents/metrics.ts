import type { Context } from '../context/context.ts';
import {
  type AgentMetrics,
  type DailyMetrics,
  type ExecutionMetrics,
  type Period,
  periodDays,
} from '../contract/agents/agent-metrics.ts';
import { notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import type { TableContext } from '../table/access/client.ts';
import { type AgentContext, readAgentHead } from '../table/agents/agents.ts';
import {
  type Days,
  lastDays,
  noTotals,
  readDays,
  readDurations,
  sumOfTotals,
  type Totals,
} from '../table/executions/metrics.ts';

/** Percentiles are exact up to this number of finished executions; above it they come from the histogram. */
const exactUpTo = 1_000;

type Clock = { clock: () => number };

/**
 * Returns the metrics of an agent in a period, by the day on which each execution was started
 * (docs/architecture.md#metrics).
 *
 * @param filter.prompt the hash of a prompt: counts only its executions
 * @param filter.series `daily` adds the metrics of each day
 * @throws `ApiError` `not_found`
 */
export async function getMetrics(
  context: AgentContext & Clock,
  organization: Organization,
  name: string,
  { period, prompt, series }: { period: Period; prompt?: string | undefined; series?: 'daily' | undefined },
): Promise<AgentMetrics> {
  const agent = await readAgentHead(context, organization, name);
  if (!agent) throw notFound('agent');
  const dates = lastDays(periodDays[period], context.clock());
  const since = dates[0] as string;
  const counted = await readDays(context, organization, { agentId: agent.id, since, promptHash: prompt });
  const { completed, failed } = sumOfTotals(counted.values());
  // The rows that have the durations do not have the prompt.
  const isExact = prompt === undefined && completed + failed <= exactUpTo;
  const days = isExact ? withDurations(counted, await readDurations(context, organization, agent.id, since)) : counted;
  return {
    agentName: agent.name,
    period,
    ...(prompt !== undefined && { prompt }),
    ...metricsOf(sumOfTotals(days.values())),
    ...(series && { series: seriesOf(dates, days) }),
  };
}

/**
 * Returns the metrics of all executions of an organization in a period, by the day on which each was started. Percentiles
 * come from the histogram: the rows that have the durations are deleted with their agent, and the totals are not.
 */
export async function getExecutionMetrics(
  context: TableContext & Clock & Pick<Context, 'runningCap'>,
  organization: Organization,
  { period }: { period: Period },
): Promise<ExecutionMetrics> {
  const dates = lastDays(periodDays[period], context.clock());
  const days = await readDays(context, organization, { since: dates[0] as string });
  return {
    period,
    ...metricsOf(sumOfTotals(days.values())),
    runningLimit: context.runningCap,
    series: seriesOf(dates, days),
  };
}

/** Returns days whose histograms have the durations themselves. */
function withDurations(days: Days, durations: readonly { date: string; durationMs: number }[]): Days {
  const byDate = Map.groupBy(durations, ({ date }) => date);
  return new Map(
    [...days].map(([date, totals]) => {
      const exact = (byDate.get(date) ?? []).map(({ durationMs }) => durationMs);
      return [date, { ...totals, histogram: histogramOf(exact) }];
    }),
  );
}

/** Returns the metrics of each of the dates, also of those without executions. */
function seriesOf(dates: readonly string[], days: Days): DailyMetrics[] {
  return dates.map((date) => {
    const { executions, performance, tokens } = metricsOf(days.get(date) ?? noTotals());
    const { total, failed } = executions;
    const { p50DurationMs, p95DurationMs } = performance;
    return { date, total, failed, tokens: tokens.total, p50DurationMs, p95DurationMs };
  });
}

/** Returns the histogram of durations, each in a bucket of its own, in ascending order. */
export function histogramOf(durations: readonly number[]): Totals['histogram'] {
  return durations.toSorted((a, b) => a - b).map((durationMs) => ({ durationMs, count: 1 }));
}

/** Returns the metrics of totals. */
export function metricsOf({
  completed,
  failed,
  running,
  tokens,
  durationMs,
  histogram,
}: Totals): Pick<AgentMetrics, 'executions' | 'performance' | 'tokens'> {
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
      p50DurationMs: percentile(histogram, 50),
      p95DurationMs: percentile(histogram, 95),
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
