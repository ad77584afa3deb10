import type { Example } from '../contract/endpoint.ts';
import type { EventName, ExecutionEvent, TaskEvent } from '../contract/events.ts';
import * as examples from '../contract/examples.ts';

/** When an event is published, as a sentence without its full stop, and an example of its data. */
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
const execution = {
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

/** The API reference of each event. */
export const eventReferences: { readonly [Name in EventName]: EventReference<Name> } = {
  'task.created': {
    when: 'A task is created',
    data: { task: { ...task, status: 'backlog' }, occurredAt: examples.planned },
  },
  'task.completed': {
    when: 'A task reaches `done`',
    data: { task: { ...task, status: 'done' }, occurredAt: examples.ended },
  },
  'task.status_changed': {
    when: 'A caller or an execution changes the status of a task',
    data: { task: { ...task, previousStatus: 'backlog', status: 'in_progress' }, occurredAt: examples.started },
  },
  'agent.spawned': {
    when: 'An execution starts',
    data: { execution: { ...execution, status: 'running' }, occurredAt: examples.started },
  },
  'agent.completed': {
    when: 'An execution completes successfully',
    data: { execution: { ...execution, ...ended, status: 'completed' }, occurredAt: examples.ended },
  },
  'agent.failed': {
    when: 'An execution ends in an error',
    data: {
      execution: { ...execution, ...ended, status: 'failed', error: 'deadline' },
      occurredAt: examples.ended,
    },
  },
};
