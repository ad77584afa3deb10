import { type ExecutionEvent, executionEventRows } from '../contract/webhooks/events.ts';
import { type ExecutionHead, listItemOf } from '../table/executions/execution-items.ts';

const names = Object.keys(executionEventRows) as ExecutionEvent['event'][];

/**
 * Returns the public events of a change of an execution (docs/architecture.md#events): one for its start and one for its
 * end, none for other changes.
 *
 * @param before `undefined` for a new execution
 * @param after `undefined` for a removed one
 */
export function executionEvents(before: ExecutionHead | undefined, after: ExecutionHead | undefined): ExecutionEvent[] {
  const changed = after ?? before;
  if (changed === undefined) return [];
  const { error, taskFields } = changed;
  const { stepCount, qualityGates, tokensEstimated, ...listed } = listItemOf(changed);
  const execution = { ...listed, ...(error !== undefined && { error }) };
  const data = { execution, occurredAt: changed.completedAt ?? changed.startedAt };
  return names
    .filter((name) => executionEventRows[name].comesFrom(before, after))
    .map((event) => ({ event, data, ...(taskFields && { taskFields }) }));
}
