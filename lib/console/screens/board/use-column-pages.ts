import { queryOptions, type UseQueryResult, useQueries } from '@tanstack/react-query';
import type { Answer, Client } from '../../../client/client.ts';
import type { TaskStatus } from '../../../client/operations.ts';
import { useClient } from '../../session.ts';
import { type ColumnPage, pageSize } from './slots.ts';
import type { Filters } from './tasks.ts';

/** What is known of a column: the exact number of its tasks, unless the first page is still being read, and its pages. */
export type ColumnPages = {
  total: number | undefined;
  pages: readonly ColumnPage[];
  error: Error | null;
  retry: () => void;
};

/**
 * Reads pages of a column by their offsets, the first of which is 0. Each page is a query of its own, so a column with
 * 100,000 tasks can be scrolled to any place, and an event leads to few requests.
 */
export function useColumnPages(status: TaskStatus, filters: Filters, offsets: readonly number[]): ColumnPages {
  const client = useClient();
  return useQueries({
    queries: offsets.map((offset) => columnPage(client, status, filters, offset)),
    combine,
  });
}

/** The query for a page of a column. */
export function columnPage(client: Client, status: TaskStatus, filters: Filters, offset: number) {
  return queryOptions({
    queryKey: ['tasks', 'column', status, filters, offset],
    queryFn: ({ signal }) =>
      client.listTasks({ query: { ...filters, status, include: 'blockedBy', limit: pageSize, offset }, signal }),
  });
}

function combine(results: UseQueryResult<Answer<'listTasks'>>[]): ColumnPages {
  const failed = results.find(({ error }) => error);
  return {
    total: results[0]?.data?.pagination.total,
    pages: results.flatMap(({ data }) => (data ? [{ offset: data.pagination.offset, tasks: data.data }] : [])),
    error: failed?.error ?? null,
    retry: () => {
      for (const { error, refetch } of results) if (error) void refetch();
    },
  };
}
