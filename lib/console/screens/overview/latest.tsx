import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Event } from '../../../client/operations.ts';
import { ExecutionsTable } from '../../components/executions-table.tsx';
import { Failure } from '../../components/failure.tsx';
import { Skeleton } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';
import { latestEvents, latestExecutions } from './queries.ts';

type Loading = { isLoading: boolean };

/** The latest executions. */
export function LatestRuns({ isLoading }: Loading) {
  const { data, error, refetch } = useQuery(latestExecutions(useClient()));
  return (
    <Latest title="Latest runs" link={<Link to="/runs">All runs</Link>} error={error} retry={() => void refetch()}>
      {isLoading || !data ? (
        <Skeleton rows={8} />
      ) : data.data.length === 0 ? (
        <p className="muted">
          No agent has run yet. <Link to="/agents">Choose an agent</Link>
        </p>
      ) : (
        <ExecutionsTable executions={data.data} label="Latest runs" />
      )}
    </Latest>
  );
}

/** The latest events of the log. */
export function LatestEvents({ isLoading }: Loading) {
  const { data, error, refetch } = useQuery(latestEvents(useClient()));
  return (
    <Latest
      title="Latest events"
      link={<Link to="/events">All events</Link>}
      error={error}
      retry={() => void refetch()}
    >
      {isLoading || !data ? (
        <Skeleton rows={8} />
      ) : (
        <ul className="event-list">
          {data.map((event) => (
            <li key={event.id}>
              <span className="mono muted">{event.event}</span>
              <Subject event={event} />
              <span className="muted">
                <Ago at={event.occurredAt} />
              </span>
            </li>
          ))}
          {data.length === 0 && <li className="muted">Nothing has happened in the last 90 days.</li>}
        </ul>
      )}
    </Latest>
  );
}

/** The task, the execution or the webhook of an event, as a link if the token may read it. */
function Subject({ event: { data } }: { event: Event }) {
  const canReadTasks = useScope('tasks:read');
  const canReadAgents = useScope('agents:read');
  if ('task' in data && !canReadTasks) return <span className="ellipsis">{data.task.title}</span>;
  if ('task' in data)
    return (
      <Link className="ellipsis" to="/board" search={{ task: data.task.id }} title={data.task.title}>
        {data.task.title}
      </Link>
    );
  if ('webhook' in data)
    return (
      <Link className="ellipsis" to="/webhooks/$id" params={{ id: data.webhook.id }}>
        {data.webhook.description ?? data.webhook.host}
      </Link>
    );
  const { agentName, id } = data.execution;
  if (!canReadAgents) return <span className="ellipsis">{agentName}</span>;
  return (
    <Link className="ellipsis" to="/runs/$agent/$id" params={{ agent: agentName, id }}>
      {agentName}
    </Link>
  );
}

type LatestProps = { title: string; link: ReactNode; error: Error | null; retry: () => void; children: ReactNode };

function Latest({ title, link, error, retry, children }: LatestProps) {
  return (
    <section aria-label={title}>
      <div className="latest-head">
        <h2>{title}</h2>
        {link}
      </div>
      {error ? <Failure error={error} retry={retry} /> : children}
    </section>
  );
}
