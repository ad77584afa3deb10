import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Event, EventName } from '../../../client/operations.ts';
import { timesOf } from '../../components/time-range.ts';
import { useClient } from '../../session.ts';

/** The filters of the event log, as the API names them. `since` can be the name of a ready range. */
export type EventFilters = {
  event?: EventName;
  task_id?: string;
  execution_id?: string;
  since?: string;
  until?: string;
};

const pageSize = 50;

/** The number of new events that a request reads. */
const newPageSize = 100;

/** The position before the oldest event. */
const beginning = `ev_${'0'.repeat(26)}`;

/** Returns the filters as the API takes them: a ready range ends now. */
export function requestOf(filters: EventFilters) {
  return { ...filters, ...timesOf(filters, Date.now()) };
}

type NewEvents = { events: readonly Event[]; next: string };

/**
 * Reads the event log. `older` are the events at the first read and before, newest first; `newer` those that were
 * published since, newest first. The older ones do not change, so only the newer ones are read when an event arrives.
 */
export function useEventLog(filters: EventFilters) {
  const client = useClient();
  const queries = useQueryClient();
  const older = useInfiniteQuery({
    queryKey: ['event-log', filters],
    queryFn: ({ signal, pageParam: before }) =>
      client.listEvents({
        query: { ...requestOf(filters), limit: pageSize, ...(before !== null && { before }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.next,
    gcTime: 0,
  });
  const first = older.data?.pages[0];
  const start = first && (first.data[0]?.id ?? beginning);
  const newerKey = ['events', 'newer', filters, start];
  const newer = useQuery({
    queryKey: newerKey,
    enabled: start !== undefined,
    gcTime: 0,
    queryFn: async ({ signal }): Promise<NewEvents> => {
      let read = queries.getQueryData<NewEvents>(newerKey) ?? { events: [], next: start ?? beginning };
      for (;;) {
        const query = { ...requestOf(filters), after: read.next, limit: newPageSize };
        const { data, pagination } = await client.listEvents({ query, signal });
        // The log can list an event twice to its followers.
        const known = new Set(read.events.map(({ id }) => id));
        const added = data.filter(({ id }) => !known.has(id));
        read = { events: [...read.events, ...added], next: pagination.next ?? read.next };
        if (data.length < newPageSize) return read;
      }
    },
  });
  const olderEvents = older.data?.pages.flatMap(({ data }) => data) ?? [];
  const olderIds = new Set(olderEvents.map(({ id }) => id));
  return {
    older: olderEvents,
    newer: (newer.data?.events ?? []).filter(({ id }) => !olderIds.has(id)).toReversed(),
    isRead: older.data !== undefined,
    error: older.error ?? newer.error,
    retry: () => void (older.error ? older.refetch() : newer.refetch()),
    hasMore: older.hasNextPage,
    isReadingMore: older.isFetchingNextPage,
    readMore: () => void older.fetchNextPage(),
  };
}

/** Reads an event with its deliveries. */
export function useEvent(id: string) {
  const client = useClient();
  return useQuery({
    queryKey: ['events', id],
    queryFn: async ({ signal }) => (await client.getEvent({ params: { id }, signal })).data,
    // Deliveries change without events.
    staleTime: 0,
  });
}
