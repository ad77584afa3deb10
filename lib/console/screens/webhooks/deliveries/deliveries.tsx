import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import type { DeliveryRecord } from '../../../../client/operations.ts';
import { EventFilter } from '../../../components/event-filter.tsx';
import { eventNameOf } from '../../../components/event-names.ts';
import { Failure } from '../../../components/failure.tsx';
import { FilterInput } from '../../../components/filter-input.tsx';
import { MoreButton } from '../../../components/more-button.tsx';
import { Empty, Skeleton, Status } from '../../../components/page.tsx';
import { Ago, durationText } from '../../../components/time.tsx';
import { useClient } from '../../../session.ts';
import { fromLocalInput, toLocalInput } from '../local-time.ts';
import { attemptsIntervalMs } from '../webhook-state.ts';

const statuses = ['delivered', 'failed'] as const;
const pageSize = 50;

/** The attempts of a webhook, with filters in the URL. */
export function Deliveries({ id }: { id: string }) {
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
    queryFn: ({ signal, pageParam }) =>
      client.listDeliveries({ params: { id }, query: { ...filters, limit: pageSize, offset: pageParam }, signal }),
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
    <section aria-labelledby="deliveries">
      <div className="section-head">
        <h2 id="deliveries">Deliveries</h2>
        <span className="muted">{total !== undefined && `${attempts.length} of ${total}`}</span>
      </div>
      <div className="filters">
        <select
          aria-label="Status"
          value={status ?? ''}
          onChange={({ target }) => show({ ...search, status: target.value || undefined })}
        >
          <option value="">All statuses</option>
          {statuses.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <EventFilter value={event} onChange={(chosen) => show({ ...search, event: chosen })} />
        <TimeFilter label="Since" value={since} onChange={(at) => show({ ...search, since: at })} />
        <TimeFilter label="Until" value={until} onChange={(at) => show({ ...search, until: at })} />
        {isFiltered && (
          <button type="button" className="quiet" onClick={() => show({})}>
            Clear
          </button>
        )}
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton />}
      {data && total === 0 && (
        <Empty title={isFiltered ? 'No deliveries match' : 'No deliveries yet'}>
          <p>{isFiltered ? 'Change or clear the filters.' : 'Send a test event, or change a task.'}</p>
        </Empty>
      )}
      {attempts.length > 0 && <Attempts id={id} attempts={attempts} />}
      <MoreButton hasMore={hasNextPage} isReading={isFetchingNextPage} read={fetchNextPage} />
    </section>
  );
}

function TimeFilter(props: { label: string; value: string | undefined; onChange: (at: string | undefined) => void }) {
  const id = useId();
  return (
    <div className="time-filter">
      <label htmlFor={id} className="muted">
        {props.label}
      </label>
      <FilterInput
        id={id}
        type="datetime-local"
        value={toLocalInput(props.value)}
        onApply={(entered) => props.onChange(fromLocalInput(entered))}
      />
    </div>
  );
}

function Attempts({ id, attempts }: { id: string; attempts: readonly DeliveryRecord[] }) {
  return (
    <div className="table deliveries">
      <table>
        <thead>
          <tr>
            <th>Status</th>
            <th>Event</th>
            <th className="number">HTTP</th>
            <th className="number">Attempt</th>
            <th className="number">Duration</th>
            <th>Error</th>
            <th>Time</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((one) => (
            <tr key={one.id}>
              <td>
                <Status value={one.error === undefined ? 'delivered' : 'failed'} />
              </td>
              <td>
                <Link to="/webhooks/$id/deliveries/$deliveryId" params={{ id, deliveryId: one.deliveryId }}>
                  {one.event}
                </Link>
                {one.test && <span className="muted"> test</span>}
              </td>
              <td className="number">{one.httpStatus || '–'}</td>
              <td className="number">{one.attempt}</td>
              <td className="number">{durationText(one.durationMs)}</td>
              <td className="wide muted" title={one.error}>
                {one.error}
              </td>
              <td className="muted">
                <Ago at={one.deliveredAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
