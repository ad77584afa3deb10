import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { EventName } from '../../../client/operations.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Failure } from '../../components/failure.tsx';
import { EventFilter } from '../../components/filters/event-filter.tsx';
import { FilterInput } from '../../components/filters/filter-input.tsx';
import { MoreButton } from '../../components/filters/more-button.tsx';
import { TimeRangeFilter } from '../../components/filters/time-range-filter.tsx';
import { eventNameOf } from '../../components/format/event-names.ts';
import { Empty, PageHead, Skeleton } from '../../components/page.tsx';
import { type EventFilters, requestOf, useEvent, useEventLog } from './event-log.ts';
import { EventRow } from './event-row.tsx';

/** The live event log, with filters in the URL, or the one event that the URL names. */
export function Events() {
  const { id, ...search } = useSearch({ from: '/events' });
  const event = eventNameOf(search.event);
  const { task, execution, since, until } = search;
  const filters: EventFilters = {
    ...(event && { event }),
    ...(task !== undefined && { task_id: task }),
    ...(execution !== undefined && { execution_id: execution }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead
        title={id === undefined ? 'Events' : 'Event'}
        path={id !== undefined && <Link to="/events">Events</Link>}
      >
        <a href="/docs">Event reference</a>
        {id === undefined ? (
          <CopyAsCurl operation="listEvents" request={{ query: requestOf(filters) }} />
        ) : (
          <CopyAsCurl operation="getEvent" request={{ params: { id } }} />
        )}
      </PageHead>
      {id === undefined ? (
        <>
          <Filters search={search} event={event} isFiltered={isFiltered} />
          <EventList key={JSON.stringify(filters)} filters={filters} isFiltered={isFiltered} />
        </>
      ) : (
        <OneEvent key={id} id={id} />
      )}
    </>
  );
}

type Search = { task?: string; execution?: string; since?: string; until?: string };

function Filters(props: { search: Search; event: EventName | undefined; isFiltered: boolean }) {
  const { search, event, isFiltered } = props;
  const { task, execution, since, until } = search;
  const navigate = useNavigate();
  const show = (shown: { [Name in 'event' | keyof Search]?: string | undefined }) =>
    void navigate({ to: '/events', search: shown, replace: true });
  return (
    <div className="filters paired">
      <EventFilter value={event} onChange={(chosen) => show({ ...search, event: chosen })} />
      <TimeRangeFilter
        value={{ since, until }}
        onChange={(range) => show({ ...search, event, since: range.since, until: range.until })}
      />
      <FilterInput
        aria-label="Task id"
        placeholder="Task id"
        value={task ?? ''}
        onApply={(id) => show({ ...search, event, task: id || undefined })}
      />
      <FilterInput
        aria-label="Run id"
        placeholder="Run id"
        value={execution ?? ''}
        onApply={(id) => show({ ...search, event, execution: id || undefined })}
      />
      {isFiltered && (
        <button type="button" className="quiet" onClick={() => show({})}>
          Clear
        </button>
      )}
    </div>
  );
}

/** The event with an id, open. */
function OneEvent({ id }: { id: string }) {
  const { data, error, refetch } = useEvent(id);
  const [isOpen, setOpen] = useState(true);
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={10} />}
      {data && (
        <ul className="event-rows" aria-label="Events">
          <EventRow event={data} isOpen={isOpen} toggle={() => setOpen(!isOpen)} />
        </ul>
      )}
      <p className="all-events">
        <Link to="/events" search={{}}>
          Show all events
        </Link>
      </p>
    </>
  );
}

const scroller = () => document.getElementById('main');

function subscribeToScroll(changed: () => void): () => void {
  const element = scroller();
  element?.addEventListener('scroll', changed, { passive: true });
  return () => element?.removeEventListener('scroll', changed);
}

/** Whether the screen is scrolled to its top. */
function useIsAtTop(): boolean {
  return useSyncExternalStore(subscribeToScroll, () => (scroller()?.scrollTop ?? 0) < 8);
}

/** The events. New ones wait for a button while an event is open or the list is scrolled, so that nothing moves. */
function EventList({ filters, isFiltered }: { filters: EventFilters; isFiltered: boolean }) {
  const { older, newer, isRead, error, retry, hasMore, isReadingMore, readMore } = useEventLog(filters);
  const [openId, setOpenId] = useState<string>();
  const [shown, setShown] = useState(0);
  const isAtTop = useIsAtTop();
  const isReading = !isAtTop || openId !== undefined;
  const added = newer.length;
  useEffect(() => {
    if (!isReading) setShown(added);
  }, [isReading, added]);
  const waiting = added - shown;
  const events = [...newer.slice(waiting), ...older];
  const showNew = () => {
    setShown(added);
    scroller()?.scrollTo({ top: 0 });
  };
  return (
    <>
      <div className="new-events" role="status">
        {waiting > 0 && isReading && (
          <button type="button" className="primary" onClick={showNew}>
            {waiting} new
          </button>
        )}
      </div>
      {error && <Failure error={error} retry={retry} />}
      {!isRead && !error && <Skeleton rows={10} />}
      {isRead && events.length === 0 && !hasMore && (
        <Empty title={isFiltered ? 'No events match' : 'No events yet'}>
          <p>
            {isFiltered
              ? 'Change or clear the filters.'
              : 'Create a task or run an agent. Its events appear here at once.'}
          </p>
        </Empty>
      )}
      {events.length > 0 && (
        <ul className="event-rows" aria-label="Events">
          {events.map((one) => (
            <EventRow
              key={one.id}
              event={one}
              isOpen={one.id === openId}
              toggle={() => setOpenId(one.id === openId ? undefined : one.id)}
            />
          ))}
        </ul>
      )}
      <MoreButton hasMore={hasMore} isReading={isReadingMore} read={readMore} />
    </>
  );
}
