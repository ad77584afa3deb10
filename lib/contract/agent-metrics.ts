import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { AgentName, count, described, oneOf } from './shapes.ts';

/** The windows of metrics, in days: so many UTC days, today included. */
export const periodDays = { '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof periodDays;

export const Period = oneOf(['7d', '30d', '90d']);

/** How an agent has done in a period. Numbers of finished executions; averages and percentiles in whole numbers. */
export const AgentMetrics = v.object({
  agentName: AgentName,
  period: Period,
  executions: v.object({
    total: count,
    completed: count,
    failed: count,
    running: count,
    successRate: described(
      v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
      'completed / (completed + failed), to four decimals; 0 if none has ended.',
    ),
  }),
  performance: described(
    v.object({ avgDurationMs: count, p50DurationMs: count, p95DurationMs: count }),
    'Milliseconds of those that have ended; percentiles are exact up to 1,000 of them, above that within 5 %.',
  ),
  tokens: v.object({ total: count, avgPerExecution: count }),
});
export type AgentMetrics = v.InferOutput<typeof AgentMetrics>;

export const getMetrics = endpoint({
  method: 'GET',
  path: '/api/agents/:name/metrics',
  scope: 'agents:read',
  summary: 'Read how an agent has done',
  params: { name: AgentName },
  query: v.object({ period: v.optional(described(Period, 'The last so many UTC days, today included.'), '30d') }),
  status: 200,
  data: AgentMetrics,
});

export const getMetricsReference = (): ApiReference<typeof getMetrics> => ({
  description:
    'Executions count on the day, in UTC, on which they started. Averages and percentiles are over those that have ended, failed ones too.',
  data: {
    agentName: examples.agentName,
    period: '30d',
    executions: { total: 42, completed: 38, failed: 3, running: 1, successRate: 0.9268 },
    performance: { avgDurationMs: 39_512, p50DurationMs: 37_204, p95DurationMs: 81_377 },
    tokens: { total: 131_980, avgPerExecution: 3_219 },
  },
});
