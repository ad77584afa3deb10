import type { Example } from '../contract/endpoint.ts';
import type { EventName, ExecutionEvent, TaskEvent } from '../contract/events.ts';
import * as examples from '../contract/examples.ts';

/** When an event is sent, and an example of what it carries. */
type EventReference<Name extends EventName> = {
  when: string;
  data: Example<Name extends TaskEvent['event'] ? TaskEvent['data'] : ExecutionEvent['data']>;
};

const task = {
  id: examples.taskId,
  title: 'Build the landing page',
  assignedAgent: examples.agentName,
  projectId: examples.projectId,
} as const;
const run = {
  id: examples.executionId,
  agentName: examples.agentName,
  taskId: examples.taskId,
  startedAt: examples.started,
} as const;
const ended = {
  completedAt: examples.ended,
  durationMs: examples.durationMs,
  tokensUsed: examples.tokensUsed,
} as const;

/** The words and an example for each event. */
export const events: { readonly [Name in EventName]: EventReference<Name> } = {
  'task.created': {
    when: 'A task is put on the board',
    data: { task: { ...task, status: 'backlog' }, occurredAt: examples.planned },
  },
  'task.completed': {
    when: 'A task reaches `done`',
    data: { task: { ...task, status: 'done' }, occurredAt: examples.ended },
  },
  'task.status_changed': {
    when: 'A task moves to another status, by a caller or by an execution',
    data: { task: { ...task, previousStatus: 'backlog', status: 'in_progress' }, occurredAt: examples.started },
  },
  'agent.spawned': {
    when: 'An execution starts',
    data: { execution: { ...run, status: 'running' }, occurredAt: examples.started },
  },
  'agent.completed': {
    when: 'An execution ends with an output',
    data: { execution: { ...run, ...ended, status: 'completed' }, occurredAt: examples.ended },
  },
  'agent.failed': {
    when: 'An execution ends in an error',
    data: {
      execution: { ...run, ...ended, status: 'failed', error: 'deadline' },
      occurredAt: examples.ended,
    },
  },
};
