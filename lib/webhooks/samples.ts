import type { EventName, PublicEvent } from '../contract/events.ts';
import { timestamp } from '../contract/ids.ts';

/** The duration and the tokens of the execution in a sample. */
const durationMs = 42_000;
const tokensUsed = 1_234;

/**
 * Returns an event for a test delivery. It has the shape of a real event, and ids of items that do not exist.
 *
 * @param ulid creates the ids
 * @param now the time of the event (Unix time, in ms)
 */
export function sampleOf(event: EventName, ulid: () => string, now: number): PublicEvent {
  const occurredAt = timestamp(now);
  const taskId = `tk_${ulid()}`;
  const agentName = 'sample-agent';
  const task = { id: taskId, title: 'A sample task' };
  const belongs = { assignedAgent: agentName, projectId: 'proj_sample' };
  const execution = { id: `ex_${ulid()}`, agentName, taskId };
  const ended = { startedAt: timestamp(now - durationMs), completedAt: occurredAt, durationMs, tokensUsed };
  switch (event) {
    case 'task.created':
      return { event, data: { task: { ...task, status: 'backlog', ...belongs }, occurredAt } };
    case 'task.status_changed':
      return {
        event,
        data: { task: { ...task, previousStatus: 'assigned', status: 'in_progress', ...belongs }, occurredAt },
      };
    case 'task.completed':
      return { event, data: { task: { ...task, status: 'done', ...belongs }, occurredAt } };
    case 'agent.spawned':
      return { event, data: { execution: { ...execution, status: 'running', startedAt: occurredAt }, occurredAt } };
    case 'agent.completed':
      return { event, data: { execution: { ...execution, status: 'completed', ...ended }, occurredAt } };
    case 'agent.failed':
      return {
        event,
        data: {
          execution: { ...execution, status: 'failed', ...ended, error: 'The model did not answer.' },
          occurredAt,
        },
      };
  }
}
