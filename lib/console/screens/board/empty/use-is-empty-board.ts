import { useQueries } from '@tanstack/react-query';
import { useClient } from '../../../session.ts';
import { type Filters, statuses } from '../tasks.ts';
import { columnPage } from '../use-column-pages.ts';

/** Returns whether no column has a task. It reads nothing more than the columns do. */
export function useIsEmptyBoard(filters: Filters): boolean {
  const client = useClient();
  return useQueries({
    queries: statuses.map((status) => columnPage(client, status, filters, 0)),
    combine: (results) => results.every(({ data }) => data?.pagination.total === 0),
  });
}
