import { Link } from '@tanstack/react-router';
import type { EventOfWebhook } from '../../../../client/operations.ts';
import { shortId } from '../../../components/page.tsx';
import { useScope } from '../../../session.ts';

/** The task of an event, or the agent of its execution; else the event itself. */
export function EventSubject({
  event: { eventId, taskId, taskTitle, executionId, agentName },
}: {
  event: EventOfWebhook;
}) {
  const canReadTasks = useScope('tasks:read');
  const canReadAgents = useScope('agents:read');
  if (taskId !== undefined && taskTitle !== undefined) {
    if (!canReadTasks) return <span title={taskTitle}>{taskTitle}</span>;
    return (
      <Link to="/board" search={{ task: taskId }} title={taskTitle}>
        {taskTitle}
      </Link>
    );
  }
  if (executionId !== undefined && agentName !== undefined) {
    const text = (
      <>
        {agentName} <span className="mono">{shortId(executionId)}</span>
      </>
    );
    if (!canReadAgents) return <span title={executionId}>{text}</span>;
    return (
      <Link to="/runs/$agent/$id" params={{ agent: agentName, id: executionId }} title={executionId}>
        {text}
      </Link>
    );
  }
  return (
    <Link className="mono" to="/events" search={{ id: eventId }} title={eventId}>
      {shortId(eventId)}
    </Link>
  );
}
