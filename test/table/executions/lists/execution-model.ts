import type { ExecutionStatus } from '../../../../lib/contract/executions/executions.ts';
import type { ExecutionHead } from '../../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../../lib/table/executions/execution-lists.ts';
import type { ExpectedList } from '../../lists/model.ts';
import type { TestTable } from '../../tasks/test-table.ts';

/** The filter of a list of executions. */
type Filter = { agentId?: string | undefined; status?: ExecutionStatus | undefined };

const statuses = [undefined, 'running', 'completed', 'failed'] as const;

/** Returns the ids of the executions that match a filter, newest first. */
function listed(executions: readonly ExecutionHead[], { agentId, status }: Filter): string[] {
  return executions
    .filter((execution) => agentId === undefined || execution.agentId === agentId)
    .filter((execution) => status === undefined || execution.status === status)
    .map(({ id }) => id)
    .sort()
    .reverse();
}

/** Returns the lists of executions with every filter over these agents, including no filter. */
export function executionLists(
  board: Pick<TestTable, 'table' | 'organization'>,
  executions: readonly ExecutionHead[],
  agentIds: readonly string[],
): ExpectedList[] {
  const filters = [undefined, ...agentIds].flatMap((agentId) => statuses.map((status) => ({ agentId, status })));
  return filters.map((filter) => ({
    filter,
    ids: listed(executions, filter),
    read: (page) => readExecutionPage(board, board.organization, filter, page),
  }));
}
