import type { EventName, ExecutionEvent, TaskEvent } from '../../contract/events.ts';
import type { Example } from './row.ts';
import { story } from './story.ts';

/** When an event is sent, and an example of what it carries. */
type EventReference<Name extends EventName> = {
  when: string;
  data: Example<Name extends TaskEvent['event'] ? TaskEvent['data'] : ExecutionEvent['data']>;
};

const task = {
  id: story.taskId,
  title: 'Build the landing page',
  assignedAgent: story.agentName,
  projectId: story.projectId,
} as const;
const run = {
  id: story.executionId,
  agentName: story.agentName,
  taskId: story.taskId,
  startedAt: story.started,
} as const;
const ended = { completedAt: story.ended, durationMs: story.durationMs, tokensUsed: story.tokensUsed } as const;

/** The words and an example for each event. */
export const events: { readonly [Name in EventName]: EventReference<Name> } = {
  'task.created': {
    when: 'A task is put on the board',
    data: { task: { ...task, status: 'backlog' }, occurredAt: story.planned },
  },
  'task.completed': {
    when: 'A task reaches `done`',
    data: { task: { ...task, status: 'done' }, occurredAt: story.ended },
  },
  'task.status_changed': {
    when: 'A task moves to another status, by a caller or by an execution',
    data: { task: { ...task, previousStatus: 'backlog', status: 'in_progress' }, occurredAt: story.started },
  },
  'agent.spawned': {
    when: 'An execution starts',
    data: { execution: { ...run, status: 'running' }, occurredAt: story.started },
  },
  'agent.completed': {
    when: 'An execution ends with an output',
    data: { execution: { ...run, ...ended, status: 'completed' }, occurredAt: story.ended },
  },
  'agent.failed': {
    when: 'An execution ends in an error',
    data: {
      execution: { ...run, ...ended, status: 'failed', error: 'deadline' },
      occurredAt: story.ended,
    },
  },
};
