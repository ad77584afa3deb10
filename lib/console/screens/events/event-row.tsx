import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { Event } from '../../../client/operations.ts';
import { Failure } from '../../components/failure.tsx';
import { claimText } from '../../components/format/claim-text.ts';
import { statusText } from '../../components/format/status-text.ts';
import { useWebhookName } from '../../components/hooks/webhook-name.ts';
import { Skeleton, Status } from '../../components/page.tsx';
import { TextBlock } from '../../components/text-block.tsx';
import { Ago } from '../../components/time.tsx';
import { useScope } from '../../session.ts';
import { useEvent } from './event-log.ts';

/** An event of the log, which opens to its data and its deliveries. */
export function EventRow({ event, isOpen, toggle }: { event: Event; isOpen: boolean; toggle: () => void }) {
  const id = useId();
  return (
    <li>
      <button type="button" className="event-head" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
        <span className="chevron" aria-hidden="true" />
        <span className="event-name">
          {isFailure(event) ? <span className="status status-failed">{event.event}</span> : event.event}
        </span>
        <span className="event-subject ellipsis">{subjectOf(event)}</span>
        <span className="muted">
          <Ago at={event.occurredAt} />
        </span>
      </button>
      <div id={id}>{isOpen && <EventData event={event} />}</div>
    </li>
  );
}

/** Returns whether an event says that something does not work. */
function isFailure({ event, data }: Event): boolean {
  if ('execution' in data && data.execution.error === 'cancelled') return false;
  return event === 'agent.failed' || event === 'webhook.failing' || ('claim' in data && data.reason === 'failed');
}

/** Returns what an event is about, in a line. */
function subjectOf({ data }: Event): string {
  if ('execution' in data) {
    const { agentName, status, error } = data.execution;
    return error === undefined || error === 'cancelled'
      ? `${agentName}: ${error ?? status}`
      : `${agentName}: ${status}, ${error}`;
  }
  if ('webhook' in data) {
    const { host, description, disabledReason } = data.webhook;
    const subject = description === undefined ? host : `${description} (${host})`;
    return disabledReason === undefined ? subject : `${subject}: all deliveries have failed`;
  }
  const { title, previousStatus, status } = data.task;
  if ('claim' in data) return `${title} (${claimText(data)})`;
  const change = previousStatus === undefined ? [status] : [previousStatus, status];
  return `${title} (${change.map(statusText).join(' → ')})`;
}

function DeliveryLink({ webhookId: id, deliveryId }: { webhookId: string; deliveryId: string }) {
  const name = useWebhookName(id);
  return (
    <Link to="/webhooks/$id/deliveries/$deliveryId" params={{ id, deliveryId }} className="ellipsis" title={deliveryId}>
      {name}
    </Link>
  );
}

function EventData({ event: { id, data } }: { event: Event }) {
  const detail = useEvent(id);
  const canReadTasks = useScope('tasks:read');
  const canReadAgents = useScope('agents:read');
  const execution = 'execution' in data ? data.execution : undefined;
  const webhookId = 'webhook' in data ? data.webhook.id : undefined;
  const taskId = 'task' in data ? data.task.id : execution?.taskId;
  return (
    <div className="event-data">
      <div className="actions">
        {canReadTasks && taskId !== undefined && (
          <Link to="/board" search={{ task: taskId }}>
            Open the task
          </Link>
        )}
        {canReadAgents && execution && (
          <Link to="/runs/$agent/$id" params={{ agent: execution.agentName, id: execution.id }}>
            Open the run
          </Link>
        )}
        {webhookId !== undefined && (
          <Link to="/webhooks/$id" params={{ id: webhookId }}>
            Open the webhook
          </Link>
        )}
        <code className="muted">{id}</code>
      </div>
      <TextBlock title="Payload" text={JSON.stringify(data, null, 2)} />
      <h2>Deliveries</h2>
      {detail.error && <Failure error={detail.error} retry={() => void detail.refetch()} />}
      {detail.isPending && <Skeleton rows={1} />}
      {detail.data?.deliveries.length === 0 && <p className="muted">No webhook was subscribed to this event.</p>}
      <ul className="event-deliveries">
        {detail.data?.deliveries.map(({ webhookId, deliveryId, state, attempts }) => (
          <li key={deliveryId}>
            <Status value={state} />
            <DeliveryLink webhookId={webhookId} deliveryId={deliveryId} />
            <span className="muted">
              {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
