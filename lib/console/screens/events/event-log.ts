import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Event, EventName } from '../../../client/operations.ts';
import { timesOf } from '../../components/filters/time-range.ts';
import { type Position, readAfter, readPosition } from '../../live/follow-events.ts';
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

/** Returns the filters as the API takes them: a ready range ends now. */
export function requestOf(filters: EventFilters) {
  return { ...filters, ...timesOf(filters, Date.now()) };
}

type NewEvents = { events: readonly Event[]; after: string };

/**
 * Reads the event log. `older` are the events at the first read and before, newest first; `newer` those that were
 * published since, newest first. The older ones do not change, so only the newer ones are read when an event arrives.
 */
export function useEventLog(filters: EventFilters) {
  const client = useClient();
  const queries = useQueryClient();
  const older = useInfiniteQuery({
    queryKey: ['event-log', filters],
    queryFn: async ({ signal, pageParam: before }) => {
      // Before the list, so that no event is between the two.
      const start = before === null ? await readPosition(client, signal) : undefined;
      const query = { ...requestOf(filters), limit: pageSize, ...(before !== null && { before }) };
      const { data, pagination } = await client.listEvents({ query, signal });
      return { events: data, next: pagination.next, start };
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    gcTime: 0,
  });
  const first = older.data?.pages[0];
  const start = first?.start;
  const newerKey = ['events', 'newer', filters, start?.after];
  const newer = useQuery({
    queryKey: newerKey,
    enabled: start !== undefined,
    gcTime: 0,
    queryFn: async ({ signal }): Promise<NewEvents> => {
      const { after = '', known = [] } = start ?? {};
      let read = queries.getQueryData<NewEvents>(newerKey) ?? { events: [], after };
      const idsOf = (events: readonly Event[] = []) => events.map(({ id }) => id);
      for (;;) {
        const position: Position = {
          after: read.after,
          known: new Set([...known, ...idsOf(first?.events), ...idsOf(read.events)]),
        };
        const page = await readAfter(client, position, requestOf(filters), signal);
        read = { events: [...read.events, ...page.events], after: page.after };
        if (!page.isFull) return read;
      }
    },
  });
  const newerEvents = newer.data?.events ?? [];
  const newerIds = new Set(newerEvents.map(({ id }) => id));
  return {
    // A page that is read later has the events that were published late in the meantime.
    older: older.data?.pages.flatMap(({ events }) => events).filter(({ id }) => !newerIds.has(id)) ?? [],
    newer: newerEvents.toReversed(),
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
