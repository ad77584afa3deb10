import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { HistoryEntry } from '../../../../../client/operations.ts';
import { Failure } from '../../../../components/failure.tsx';
import { MoreButton } from '../../../../components/filters/more-button.tsx';
import { unique } from '../../../../components/format/unique.ts';
import { oneTask } from '../../../../components/hooks/one-task.ts';
import { Skeleton } from '../../../../components/page.tsx';
import { Ago } from '../../../../components/time.tsx';
import { useClient, useScope } from '../../../../session.ts';
import { historyText } from './history-text.ts';

/** The number of entries that one request loads. */
const pageSize = 20;

/** How long an entry can take to appear after its action, in milliseconds: histories are written from the stream. */
const lateMs = 1_500;

/**
 * What has happened to a task, the newest first.
 *
 * @param readAt when the task was read: after each read, the history is read once more
 */
export function History({ id, readAt }: { id: string; readAt: number }) {
  const canReadEvents = useScope('webhooks:read');
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useHistory(id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the time of the read is only that of a change
  useEffect(() => {
    const timer = setTimeout(() => void refetch({ cancelRefetch: false }), lateMs);
    return () => clearTimeout(timer);
  }, [readAt, refetch]);
  const entries = unique(data?.pages.flatMap((page) => page.data) ?? []);
  return (
    <section className="task-history" aria-label="History">
      <h3>History</h3>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton rows={3} />}
      {data && entries.length === 0 && <p className="muted">No entries in the last 365 days.</p>}
      <ol>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ol>
      <MoreButton hasMore={hasNextPage} isReading={isFetchingNextPage} read={fetchNextPage} />
      {canReadEvents && (
        <Link to="/events" search={{ task: id }}>
          Events of the task
        </Link>
      )}
    </section>
  );
}

function useHistory(id: string) {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: [...oneTask(client, id).queryKey, 'history'],
    queryFn: ({ pageParam: offset, signal }) =>
      client.getTaskHistory({ params: { id }, query: { limit: pageSize, offset }, signal }),
    initialPageParam: 0,
    getNextPageParam: ({ pagination: { offset, limit, total } }) =>
      offset + limit < total ? offset + limit : undefined,
  });
}

function Entry({ entry }: { entry: HistoryEntry }) {
  const { at, by, note } = entry;
  return (
    <li>
      <p>
        <strong title={by.id}>{by.name}</strong> {historyText(entry)}
        <RunLink by={by} />{' '}
        <span className="muted">
          <Ago at={at} />
        </span>
      </p>
      {note !== undefined && <p className="history-note muted">{note}</p>}
    </li>
  );
}

/** The run in which an agent has made a change. */
function RunLink({ by: { kind, name, executionId } }: Pick<HistoryEntry, 'by'>) {
  const canReadAgents = useScope('agents:read');
  if (kind !== 'agent' || executionId === undefined || !canReadAgents) return null;
  return (
    <>
      {' '}
      <Link to="/runs/$agent/$id" params={{ agent: name, id: executionId }}>
        Open the run
      </Link>
    </>
  );
}
