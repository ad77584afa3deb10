import type { Organization } from '../contract/organization.ts';
import { resultBytes, type TaskResult } from '../contract/tasks/tasks.ts';
import { codePoints } from '../contract/texts/code-points.ts';
import type { TableContext } from '../table/access/client.ts';
import { readExecution } from '../table/executions/executions.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { startInBytes } from '../table/text-parts.ts';

/** Returns the result of the newest ended execution on a task; `undefined` if there is none, or if it was deleted. */
export async function readTaskResult(
  context: TableContext,
  organization: Organization,
  { endedExecution, lastExecution }: StoredTask,
): Promise<TaskResult | undefined> {
  // Tasks whose executions ended in an earlier version have only the id of the last execution that completed.
  const id = endedExecution ?? lastExecution;
  const execution = id === undefined ? undefined : await readExecution(context, { organization, id });
  if (!execution || execution.status === 'running' || execution.completedAt === undefined) return undefined;
  const { id: executionId, agentName, status, error, errorReason, output } = execution;
  const { qualityGates, gateReasons, tokensUsed, completedAt } = execution;
  return {
    ...{ executionId, agentName, status },
    ...(error !== undefined && { error }),
    ...(errorReason !== undefined && { errorReason }),
    ...(output !== undefined && { output: startInBytes(output, resultBytes) }),
    outputLength: codePoints(output ?? ''),
    qualityGates,
    ...(gateReasons && { gateReasons }),
    ...(tokensUsed !== undefined && { tokensUsed }),
    completedAt,
  };
}
