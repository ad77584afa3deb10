import { timestamp } from '../contract/ids.ts';
import { type EventName, eventRows, type PublicEvent } from '../contract/webhooks/events.ts';

/**
 * Returns an event for a test delivery: the example of the event with ids of items that do not exist, names that say so,
 * and the present time.
 *
 * @param ulid creates the ids
 * @param now the time of the event (Unix time, in ms)
 */
export function sampleOf(event: EventName, ulid: () => string, now: number): PublicEvent {
  const { example } = eventRows[event];
  const taskId = `tk_${ulid()}`;
  const agentName = 'sample-agent';
  const occurredAt = timestamp(now);
  if ('task' in example) {
    const belongs = { assignedAgent: agentName, projectId: 'proj_sample' };
    const task = { ...example.task, id: taskId, title: 'A sample task', ...belongs };
    const comment = 'comment' in example && { comment: { ...example.comment, id: `cm_${ulid()}`, taskId } };
    return { event, data: { ...example, task, ...comment, occurredAt } } as PublicEvent;
  }
  const moved = (time: string) => timestamp(now + Date.parse(time) - Date.parse(example.occurredAt));
  if ('webhook' in example) {
    const { failingSince } = example.webhook;
    const webhook = {
      ...example.webhook,
      id: `wh_${ulid()}`,
      host: 'sample.example.com',
      description: 'A sample webhook',
      ...(failingSince !== undefined && { failingSince: moved(failingSince) }),
    };
    return { event, data: { webhook, occurredAt } } as PublicEvent;
  }
  const { startedAt, completedAt } = example.execution;
  const execution = {
    ...example.execution,
    id: `ex_${ulid()}`,
    agentName,
    taskId,
    startedAt: moved(startedAt),
    ...(completedAt !== undefined && { completedAt: moved(completedAt) }),
  };
  return { event, data: { execution, occurredAt } } as PublicEvent;
}
