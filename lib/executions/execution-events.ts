import type { ExecutionEvent } from '../contract/events.ts';
import type { ExecutionStatus } from '../contract/executions.ts';
import { type ExecutionHead, listItemOf } from '../table/executions/execution-items.ts';

const events = {
  running: 'agent.spawned',
  completed: 'agent.completed',
  failed: 'agent.failed',
} as const satisfies Record<ExecutionStatus, ExecutionEvent['event']>;

/**
 * Returns the public events of a change of an execution (docs/architecture.md#events): one for its start and one for its
 * end, none for other changes.
 */
export function executionEvents(before: ExecutionHead | undefined, after: ExecutionHead): ExecutionEvent[] {
  if (before?.status === after.status) return [];
  const { status, error, taskFields } = after;
  const { stepCount: _, qualityGates: __, tokensEstimated: ___, ...listed } = listItemOf(after);
  const execution = { ...listed, ...(error !== undefined && { error }) };
  const data = { execution, occurredAt: after.completedAt ?? after.startedAt };
  return [{ event: events[status], data, ...(taskFields && { taskFields }) }];
}
