import { ulid } from 'ulid';
import { timestamp } from '../../lib/contract/ids.ts';
import type { StoredAgent } from '../../lib/table/agents/agent-items.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { completed, type ExecutionTable, failed } from '../table/executions/execution-table.ts';

export const dayMs = 24 * 60 * 60_000;

/** The end of an execution. */
export type TestEnd = { status: 'completed' | 'failed'; durationMs: number; tokensUsed: number };

/** Returns an execution that started at a time, as its start and its end would store it; it runs if it has no end. */
export function executionAt(
  board: ExecutionTable,
  startedMs: number,
  end?: TestEnd,
  agent: StoredAgent = board.agent,
): ExecutionHead {
  const running = board.newExecution({ id: `ex_${ulid(startedMs)}` }, agent);
  if (!end) return running;
  const ending = { ...end, completedAt: timestamp(startedMs + end.durationMs) };
  return { ...running, ...(end.status === 'failed' ? failed(ending) : completed(ending)) };
}
