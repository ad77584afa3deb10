import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { AgentName, count, described, oneOf, PromptHash } from './shapes.ts';

/** The number of UTC days in each period of metrics, today included. */
export const periodDays = { '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof periodDays;

export const Period = oneOf(['7d', '30d', '90d']);

/** The metrics of an agent over a period. Averages and percentiles are whole numbers. */
export const AgentMetrics = v.object({
  agentName: AgentName,
  period: Period,
  prompt: v.optional(described(PromptHash, 'The prompt of the request; absent without one.')),
  executions: v.object({
    total: count,
    completed: count,
    failed: count,
    running: count,
    successRate: described(
      v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
      'The fraction completed / (completed + failed), rounded to four decimals; 0 if no execution has ended.',
    ),
  }),
  performance: described(
    v.object({ avgDurationMs: count, p50DurationMs: count, p95DurationMs: count }),
    'Durations in milliseconds of the executions that have ended. Percentiles are exact for up to 1,000 executions; for more, and with `prompt`, the error is at most 5 %.',
  ),
  tokens: v.object({ total: count, avgPerExecution: count }),
});
export type AgentMetrics = v.InferOutput<typeof AgentMetrics>;

export const getMetrics = endpoint({
  method: 'GET',
  path: '/api/agents/:name/metrics',
  scope: 'agents:read',
  summary: 'Get agent metrics',
  params: { name: AgentName },
  query: v.object({
    period: v.optional(described(Period, 'The period: the last 7, 30 or 90 UTC days, today included.'), '30d'),
    prompt: v.optional(
      described(
        PromptHash,
        'Hash of a prompt of the agent. Count only executions with this prompt, to compare two prompts.',
      ),
    ),
  }),
  status: 200,
  data: AgentMetrics,
});

export const getMetricsReference = (): ApiReference<typeof getMetrics> => ({
  description:
    'Returns the metrics of the agent over a period. An execution counts on the UTC day on which it started. Averages and percentiles cover all executions that have ended, failed executions included. `GET /api/agents/{name}/prompts` lists the hashes for `prompt`; a hash without executions has zeros. Executions that an early version of the service ended count only without `prompt`.',
  params: { name: examples.systemAgentName },
  data: {
    agentName: examples.systemAgentName,
    period: '30d',
    executions: { total: 42, completed: 38, failed: 3, running: 1, successRate: 0.9268 },
    performance: { avgDurationMs: 39_512, p50DurationMs: 37_204, p95DurationMs: 81_377 },
    tokens: { total: 131_980, avgPerExecution: 3_219 },
  },
});
