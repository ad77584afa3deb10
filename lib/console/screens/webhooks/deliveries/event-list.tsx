import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Failure } from '../../../components/failure.tsx';
import { EventFilter } from '../../../components/filters/event-filter.tsx';
import { MoreButton } from '../../../components/filters/more-button.tsx';
import { timesOf } from '../../../components/filters/time-range.ts';
import { TimeRangeFilter } from '../../../components/filters/time-range-filter.tsx';
import { eventNameOf } from '../../../components/format/event-names.ts';
import { Empty, Skeleton } from '../../../components/page.tsx';
import { useClient } from '../../../session.ts';
import { attemptsIntervalMs } from '../webhook-state.ts';
import { EventTable } from './event-table.tsx';

const states = ['pending', 'retrying', 'delivered', 'exhausted', 'skipped'] as const;
const pageSize = 50;

/** The interval between two reads of the events while an attempt is due, in milliseconds. */
const pendingIntervalMs = 5_000;

/** The events of a webhook with the states of their deliveries, with filters in the URL. */
export function EventList({ id, recovers }: { id: string; recovers: (recoveryId: string) => void }) {
  const client = useClient();
  const search = useSearch({ from: '/webhooks/$id' });
  const navigate = useNavigate();
  const { since, until } = search;
  const state = states.find((one) => one === search.state);
  const event = eventNameOf(search.event);
  const filters = {
    ...(state && { state }),
    ...(event && { event }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
  const isFiltered = Object.keys(filters).length > 0;
  const show = (shown: typeof search) =>
    void navigate({ to: '/webhooks/$id', params: { id }, search: shown, replace: true });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['webhooks', id, 'events', filters],
    queryFn: ({ signal, pageParam: before }) => {
      const times = timesOf({ since, until }, Date.now());
      const query = { ...filters, ...times, limit: pageSize, ...(before !== null && { before }) };
      return client.listWebhookEvents({ params: { id }, query, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.next,
    // A reader of earlier pages is not interrupted.
    refetchInterval: ({ state: { data: read } }) => {
      if (read?.pages.length !== 1) return false;
      return read.pages[0]?.data.some((one) => one.state === 'pending') ? pendingIntervalMs : attemptsIntervalMs;
    },
  });
  const events = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <div className="filters paired">
        <select
          aria-label="State"
          value={state ?? ''}
          onChange={({ target }) => show({ ...search, state: target.value || undefined })}
        >
          <option value="">All states</option>
          {states.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <EventFilter value={event} onChange={(chosen) => show({ ...search, event: chosen })} />
        <TimeRangeFilter
          value={{ since, until }}
          onChange={(range) => show({ ...search, since: range.since, until: range.until })}
        />
        {isFiltered && (
          <button type="button" className="quiet" onClick={() => show({})}>
            Clear
          </button>
        )}
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton />}
      {data && events.length === 0 && <NoEvents isFiltered={isFiltered} hasMore={hasNextPage} />}
      {events.length > 0 && (
        // Other events start without the selection of these.
        <EventTable key={JSON.stringify(filters)} id={id} events={events} recovers={recovers} />
      )}
      <MoreButton hasMore={hasNextPage} isReading={isFetchingNextPage} read={fetchNextPage} />
    </>
  );
}

/** What an empty list says. A request reads a part of the event log, which can be without events of the webhook. */
function NoEvents({ isFiltered, hasMore }: { isFiltered: boolean; hasMore: boolean }) {
  if (hasMore)
    return (
      <Empty title="None of the newest events">
        <p>Load more to search earlier ones{isFiltered && ', or change the filters'}.</p>
      </Empty>
    );
  return isFiltered ? (
    <Empty title="No events match">
      <p>Change or clear the filters.</p>
    </Empty>
  ) : (
    <Empty title="No events yet">
      <p>Change a task. A test event is listed under Attempts.</p>
    </Empty>
  );
}
