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
import { Attempts } from './attempts.tsx';

const statuses = ['delivered', 'failed'] as const;
const pageSize = 50;

/** The attempts of a webhook, also those of test events, with filters in the URL. */
export function AttemptList({ id }: { id: string }) {
  const client = useClient();
  const search = useSearch({ from: '/webhooks/$id' });
  const navigate = useNavigate();
  const { since, until } = search;
  const status = statuses.find((one) => one === search.status);
  const event = eventNameOf(search.event);
  const filters = {
    ...(status && { status }),
    ...(event && { event }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
  const isFiltered = Object.keys(filters).length > 0;
  const show = (shown: typeof search) =>
    void navigate({ to: '/webhooks/$id', params: { id }, search: shown, replace: true });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['webhooks', id, 'deliveries', filters],
    queryFn: ({ signal, pageParam: offset }) => {
      const query = { ...filters, ...timesOf({ since, until }, Date.now()), limit: pageSize, offset };
      return client.listDeliveries({ params: { id }, query, signal });
    },
    initialPageParam: 0,
    // A reader of earlier pages is not interrupted.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? attemptsIntervalMs : false),
    getNextPageParam: ({ pagination: { offset, limit, total } }) =>
      offset + limit < total ? offset + limit : undefined,
  });
  // A new attempt shifts the later pages by one, so the last of a page can also be the first of the next one.
  const attempts = [...new Map(data?.pages.flatMap((page) => page.data).map((one) => [one.id, one])).values()];
  const total = data?.pages[0]?.pagination.total;
  return (
    <>
      <div className="filters paired">
        <select
          aria-label="Status"
          value={status ?? ''}
          onChange={({ target }) => show({ ...search, view: 'attempts', status: target.value || undefined })}
        >
          <option value="">All statuses</option>
          {statuses.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <EventFilter value={event} onChange={(chosen) => show({ ...search, event: chosen })} />
        <TimeRangeFilter
          value={{ since, until }}
          onChange={(range) => show({ ...search, since: range.since, until: range.until })}
        />
        {isFiltered && (
          <button type="button" className="quiet" onClick={() => show({ view: 'attempts' })}>
            Clear
          </button>
        )}
        <span className="muted">{total !== undefined && `${attempts.length} of ${total}`}</span>
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton />}
      {data && total === 0 && (
        <Empty title={isFiltered ? 'No attempts match' : 'No attempts yet'}>
          <p>{isFiltered ? 'Change or clear the filters.' : 'Send a test event, or change a task.'}</p>
        </Empty>
      )}
      {attempts.length > 0 && <Attempts id={id} attempts={attempts} />}
      <MoreButton hasMore={hasNextPage} isReading={isFetchingNextPage} read={fetchNextPage} />
    </>
  );
}
