import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Client, CrewboardError } from '../../../../client/client.ts';
import { useClient } from '../../../session.ts';
import { cachedTasks } from '../cached-tasks.ts';
import type { Filters } from '../tasks.ts';
import type { Selection } from './selection.ts';

/**
 * Takes tasks out of the selection that somebody deletes, or that the filters no longer match. A task that is missing from the read
 * pages may be on one that is not read, so it is read itself.
 *
 * @param isEnabled unset while the selected tasks are changed
 */
export function useDisappeared(filters: Filters, { selected, remove }: Selection, isEnabled: boolean): void {
  const queries = useQueryClient();
  const client = useClient();
  // The missing tasks that still exist. They are not read again at each event.
  const existing = useRef(new Set<string>());
  useEffect(() => {
    if (!isEnabled || selected.size === 0) return;
    const check = () => {
      const found = new Set(cachedTasks(queries, filters).map(({ task }) => task.id));
      for (const id of selected.keys()) {
        if (found.has(id)) existing.current.delete(id);
        else if (!existing.current.has(id)) {
          existing.current.add(id);
          void isOnBoard(client, filters, id).then((is) => is || remove([id]));
        }
      }
    };
    return queries.getQueryCache().subscribe(({ type, query }) => {
      if (type === 'updated' && isColumn(query.queryKey) && query.state.fetchStatus === 'idle') check();
    });
  }, [queries, client, filters, selected, remove, isEnabled]);
}

function isColumn([noun, list]: QueryKey): boolean {
  return noun === 'tasks' && list === 'column';
}

/** Returns whether a task exists and matches the filters. Without an answer, it may. */
async function isOnBoard(client: Client, filters: Filters, id: string): Promise<boolean> {
  try {
    const { data } = await client.getTask({ params: { id } });
    return (
      (filters.project_id ?? data.projectId) === data.projectId &&
      (filters.assigned_agent ?? data.assignedAgent) === data.assignedAgent &&
      (filters.priority ?? data.priority) === data.priority
    );
  } catch (error) {
    return !(error instanceof CrewboardError && error.status === 404);
  }
}
