import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { AgentName, count, described, oneOf, PromptHash } from '../shapes.ts';

/** The number of UTC days in each period of metrics, today included. */
export const periodDays = { '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof periodDays;

export const Period = oneOf(['7d', '30d', '90d']);

const executions = v.object({
  total: count,
  completed: count,
  failed: count,
  running: count,
  successRate: described(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    'The fraction completed / (completed + failed), rounded to four decimals; 0 if no execution has ended.',
  ),
});
const performance = v.object({ avgDurationMs: count, p50DurationMs: count, p95DurationMs: count });
const tokens = v.object({ total: count, avgPerExecution: count });

/** The metrics of one UTC day of a period. Percentiles are whole numbers. */
export const DailyMetrics = v.object({
  date: described(
    v.pipe(v.string(), v.isoDate(), v.examples(['2026-11-14'])),
    'The UTC day on which the executions started.',
  ),
  total: described(count, 'Number of executions: those that have ended and those that are running.'),
  failed: count,
  tokens: described(count, 'Tokens of the executions that have ended.'),
  p50DurationMs: described(count, 'Median duration in milliseconds; 0 if no execution has ended.'),
  p95DurationMs: described(count, '95th percentile of the durations in milliseconds; 0 if no execution has ended.'),
});
export type DailyMetrics = v.InferOutput<typeof DailyMetrics>;

const series = v.array(DailyMetrics);
const everyDay = 'One entry for each UTC day of the period, also for days without executions, oldest first.';

/** The metrics of an agent over a period. Averages and percentiles are whole numbers. */
export const AgentMetrics = v.object({
  agentName: AgentName,
  period: Period,
  prompt: v.optional(described(PromptHash, 'The prompt of the request; absent without one.')),
  executions,
  performance: described(
    performance,
    'Durations in milliseconds of the executions that have ended. Percentiles, also those of `series`, are exact for up to 1,000 executions in the period; for more, and with `prompt`, the error is at most 5 %.',
  ),
  tokens,
  series: v.optional(described(series, `${everyDay} Absent without \`series=daily\`.`)),
});
export type AgentMetrics = v.InferOutput<typeof AgentMetrics>;

/** The metrics of all executions of an organization over a period. Averages and percentiles are whole numbers. */
export const ExecutionMetrics = v.object({
  period: Period,
  executions,
  performance: described(
    performance,
    'Durations in milliseconds of the executions that have ended. The error of percentiles, also of those of `series`, is at most 5 %.',
  ),
  tokens,
  runningLimit: described(
    v.pipe(v.number(), v.integer(), v.minValue(1)),
    'How many executions of the organization can run at the same time: `RUNNING_CAP` of the deployment.',
  ),
  series: described(series, everyDay),
});
export type ExecutionMetrics = v.InferOutput<typeof ExecutionMetrics>;

/** The query parameter for the period of metrics. */
const period = v.optional(described(Period, 'The period: the last 7, 30 or 90 UTC days, today included.'), '30d');

export const getMetrics = endpoint({
  method: 'GET',
  path: '/api/agents/:name/metrics',
  scope: 'agents:read',
  summary: 'Get agent metrics',
  params: { name: AgentName },
  query: v.object({
    period,
    prompt: v.optional(
      described(
        PromptHash,
        'Hash of a prompt of the agent. Count only executions with this prompt, to compare two prompts.',
      ),
    ),
    series: v.optional(described(oneOf(['daily']), '`daily` adds `series`, the metrics of each day.')),
  }),
  status: 200,
  data: AgentMetrics,
});

export const getMetricsReference = (): ApiReference<typeof getMetrics> => ({
  description:
    'Returns the metrics of the agent over a period. An execution counts on the UTC day on which it started. Averages and percentiles cover all executions that have ended, failed executions included. `GET /api/agents/{name}/prompts` lists the hashes for `prompt`; a hash without executions has zeros. With `series=daily`, `series` has the metrics of each day. Executions that an early version of the service ended count only without `prompt`.',
  params: { name: examples.systemAgentName },
  data: {
    agentName: examples.systemAgentName,
    period: '30d',
    executions: { total: 42, completed: 38, failed: 3, running: 1, successRate: 0.9268 },
    performance: { avgDurationMs: 39_512, p50DurationMs: 37_204, p95DurationMs: 81_377 },
    tokens: { total: 131_980, avgPerExecution: 3_219 },
  },
});

export const getExecutionMetrics = endpoint({
  method: 'GET',
  path: '/api/agents/executions/metrics',
  scope: 'agents:read',
  summary: 'Get execution metrics',
  query: v.object({ period }),
  status: 200,
  data: ExecutionMetrics,
  servedBy: 'getMetrics',
});

export const getExecutionMetricsReference = (): ApiReference<typeof getExecutionMetrics> => ({
  description:
    'Returns the metrics of all executions of the organization over a period, in total and for each day. An execution counts on the UTC day on which it started. Averages and percentiles cover all executions that have ended, failed executions included. The executions of a deleted agent that have ended stay in the numbers. Executions that version 0.2.0 or an earlier one ended do not count.',
  data: {
    period: '7d',
    executions: { total: 42, completed: 38, failed: 3, running: 1, successRate: 0.9268 },
    performance: { avgDurationMs: 39_512, p50DurationMs: 37_204, p95DurationMs: 81_377 },
    tokens: { total: 131_980, avgPerExecution: 3_219 },
    runningLimit: 50,
    series: [
      { date: '2026-11-08', ...quietDay },
      { date: '2026-11-09', total: 9, failed: 1, tokens: 27_310, p50DurationMs: 35_433, p95DurationMs: 81_377 },
      { date: '2026-11-10', ...quietDay },
      { date: '2026-11-11', total: 11, failed: 0, tokens: 36_905, p50DurationMs: 37_204, p95DurationMs: 73_979 },
      { date: '2026-11-12', total: 8, failed: 2, tokens: 24_120, p50DurationMs: 39_064, p95DurationMs: 89_515 },
      { date: '2026-11-13', total: 10, failed: 0, tokens: 33_480, p50DurationMs: 37_204, p95DurationMs: 73_979 },
      { date: '2026-11-14', total: 4, failed: 0, tokens: 10_165, p50DurationMs: 32_212, p95DurationMs: 44_257 },
    ],
  },
});

/** A day of the example without executions. */
const quietDay = { total: 0, failed: 0, tokens: 0, p50DurationMs: 0, p95DurationMs: 0 };
