import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Event } from '../../../../client/operations.ts';
import { claimText } from '../../../components/claim-text.ts';
import { Failure } from '../../../components/failure.tsx';
import { Skeleton } from '../../../components/page.tsx';
import { Ago } from '../../../components/time.tsx';
import { useClient, useScope } from '../../../session.ts';
import { statusLabels } from '../tasks.ts';

/** The newest events of a task and of the executions on it, with links to these executions. */
export function TaskEvents({ id }: { id: string }) {
  const client = useClient();
  const canRead = useScope('webhooks:read');
  const { data, error, refetch } = useQuery({
    queryKey: ['events', 'task', id],
    queryFn: ({ signal }) => client.listEvents({ query: { task_id: id, limit: 20 }, signal }),
    enabled: canRead,
  });
  if (!canRead) return null;
  return (
    <section>
      <h3>Events and executions</h3>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={3} />}
      {data?.data.length === 0 && <p className="muted">No events in the last 90 days.</p>}
      <ul className="task-events">
        {data?.data.map((one) => (
          <li key={one.id}>
            <code>{one.event}</code>
            <EventSubject event={one} />
            <span className="muted">
              <Ago at={one.occurredAt} />
            </span>
          </li>
        ))}
      </ul>
      {data?.pagination.next && (
        <Link to="/events" search={{ task: id }}>
          All events of the task
        </Link>
      )}
    </section>
  );
}

/** What an event is about: the claim, the new status of the task, or the execution. */
function EventSubject({ event: { data } }: { event: Event }) {
  const canReadAgents = useScope('agents:read');
  if ('claim' in data) return <span className="ellipsis">{claimText(data)}</span>;
  if ('task' in data) return <span className="ellipsis">{statusLabels[data.task.status]}</span>;
  // The events of a task are those of the task and of the executions on it.
  if (!('execution' in data)) return null;
  const { id, agentName, status } = data.execution;
  if (!canReadAgents) return <span className="ellipsis">{`${agentName}, ${status}`}</span>;
  return (
    <Link to="/runs/$agent/$id" params={{ agent: agentName, id }} className="ellipsis">
      {agentName}, {status}
    </Link>
  );
}
