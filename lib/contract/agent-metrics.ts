import * as v from 'valibot';
import { endpoint } from './endpoint.ts';
import { AgentName, oneOf } from './shapes.ts';

/** The windows of metrics, in days: so many UTC days, today included. */
export const periodDays = { '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof periodDays;

const Period = oneOf(['7d', '30d', '90d']);

/** How an agent has done in a period. Numbers of finished executions; averages and percentiles in whole numbers. */
export const AgentMetrics = v.object({
  agentName: AgentName,
  period: Period,
  executions: v.object({
    total: v.number(),
    completed: v.number(),
    failed: v.number(),
    running: v.number(),
    successRate: v.number(),
  }),
  performance: v.object({ avgDurationMs: v.number(), p50DurationMs: v.number(), p95DurationMs: v.number() }),
  tokens: v.object({ total: v.number(), avgPerExecution: v.number() }),
});
export type AgentMetrics = v.InferOutput<typeof AgentMetrics>;

export const getMetrics = endpoint({
  method: 'GET',
  path: '/api/agents/:name/metrics',
  scope: 'agents:read',
  summary: 'Read how an agent has done',
  params: { name: AgentName },
  query: v.object({ period: v.optional(Period, '30d') }),
  status: 200,
  data: AgentMetrics,
});
