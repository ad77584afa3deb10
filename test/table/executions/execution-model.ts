import { isDeepStrictEqual } from 'node:util';
import type { ExecutionStatus } from '../../../lib/contract/executions.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { TableContext } from '../../../lib/table/client.ts';
import { type ExecutionHead, listItemOf } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../lib/table/executions/executions.ts';

/** The filter of a list of executions. */
export type Filter = { agentId?: string | undefined; status?: ExecutionStatus | undefined };

const statuses = [undefined, 'running', 'completed', 'failed'] as const;

/** Returns every combination of filters over these agents, including no filter. */
export function filtersOver(agentIds: readonly string[]): Filter[] {
  return [undefined, ...agentIds].flatMap((agentId) => statuses.map((status) => ({ agentId, status })));
}

/** Returns the executions that match a filter, newest first. */
export function listed(executions: readonly ExecutionHead[], { agentId, status }: Filter): ExecutionHead[] {
  return executions
    .filter((execution) => agentId === undefined || execution.agentId === agentId)
    .filter((execution) => status === undefined || execution.status === status)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Returns the pages that differ from the model, for each filter and each offset that `offsetsOf` returns. */
export async function differences(
  context: TableContext,
  organization: Organization,
  executions: readonly ExecutionHead[],
  { filters, limit, offsetsOf }: { filters: Filter[]; limit: number; offsetsOf: (total: number) => number[] },
): Promise<string[]> {
  const found: string[] = [];
  for (const filter of filters) {
    const all = listed(executions, filter);
    for (const offset of new Set(offsetsOf(all.length))) {
      const shown = await readExecutionPage(context, organization, filter, { limit, offset });
      const wanted = { items: all.slice(offset, offset + limit).map(listItemOf), total: all.length };
      if (!isDeepStrictEqual(shown, wanted)) found.push(JSON.stringify({ filter, limit, offset, shown, wanted }));
    }
  }
  return found;
}
