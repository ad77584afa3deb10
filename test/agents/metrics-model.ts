import { ulid } from 'ulid';
import type { AgentMetrics, Period } from '../../lib/contract/agent-metrics.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { ExecutionHead, RunningExecution } from '../../lib/table/executions/execution-items.ts';
import { completed, type ExecutionBoard, failed } from '../table/executions/execution-board.ts';

export const periods: readonly Period[] = ['7d', '30d', '90d'];

/** A minute, in milliseconds. */
const minute = 60_000;
export const dayMs = 24 * 60 * minute;

/** The result of an execution, or that it is running. */
export type Came = { status: 'running' | 'completed' | 'failed'; durationMs: number; tokensUsed: number };

/** Returns an execution of an agent as its start and its end would store it. */
export function executionOf(
  { organization }: ExecutionBoard,
  { id: agentId, name: agentName, model }: StoredAgent,
  startedMs: number,
  { status, durationMs, tokensUsed }: Came,
): ExecutionHead {
  const head: RunningExecution = {
    ...{ organization, id: `ex_${ulid(startedMs)}`, agentId, agentName, model, status: 'running', claims: 1 },
    ...{ startedAt: timestamp(startedMs), selfTest: 'pending', qaReview: 'pending' },
  };
  if (status === 'running') return head;
  const end = { completedAt: timestamp(startedMs + durationMs), durationMs, tokensUsed };
  return { ...head, ...(status === 'failed' ? failed(end) : completed(end)) };
}

/** Returns a generator of pseudorandom numbers from 0 up to 1, the same for the same seed. */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Returns a pseudorandom result: some executions take no time or very long, one in seven fails. */
export function cameBy(next: () => number): Came {
  const durationMs = next() < 0.05 ? 0 : Math.floor(Math.exp(next() * Math.log(10 * minute)));
  return { status: next() < 1 / 7 ? 'failed' : 'completed', durationMs, tokensUsed: Math.floor(next() * 50_000) };
}

/** Returns the expected metrics of an agent, calculated from all its executions. */
export function reckoned(
  agentName: string,
  executions: readonly ExecutionHead[],
  period: Period,
  now: number,
): AgentMetrics {
  const today = new Date(now);
  today.setUTCHours(0, 0, 0, 0);
  today.setUTCDate(today.getUTCDate() - Number.parseInt(period, 10) + 1);
  const inWindow = executions.filter(({ startedAt }) => Date.parse(startedAt) >= today.getTime());
  const count = (status: string) => inWindow.filter((execution) => execution.status === status).length;
  const [completed, failed] = [count('completed'), count('failed')];
  const running = executions.filter(({ status }) => status === 'running').length;
  const durations = inWindow.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  const tokens = inWindow.flatMap(({ tokensUsed }) => tokensUsed ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  const average = (numbers: readonly number[]) => Math.round(sum(numbers) / Math.max(1, numbers.length));
  const rank = (percent: number) => durations[Math.ceil((durations.length * percent) / 100) - 1] ?? 0;
  return {
    agentName,
    period,
    executions: {
      ...{ total: completed + failed + running, completed, failed, running },
      successRate: Number((completed / Math.max(1, completed + failed)).toFixed(4)),
    },
    performance: { avgDurationMs: average(durations), p50DurationMs: rank(50), p95DurationMs: rank(95) },
    tokens: { total: sum(tokens), avgPerExecution: average(tokens) },
  };
}
