import * as v from 'valibot';
import { ExecutionListItem } from './executions.ts';
import { id, oneOf, Timestamp } from './shapes.ts';
import { TaskId, TaskStatus } from './tasks.ts';

/** The public events (docs/architecture.md#events). */
export const eventNames = [
  'task.created',
  'task.completed',
  'task.status_changed',
  'agent.spawned',
  'agent.completed',
  'agent.failed',
] as const;
export const EventName = oneOf(eventNames);
export type EventName = v.InferOutput<typeof EventName>;

export const EventId = id('ev', 'an event');

/** `data` of the task events. Only `task.status_changed` has a `previousStatus`; unset fields are absent. */
export const TaskEventData = v.object({
  task: v.object({
    id: TaskId,
    title: v.string(),
    previousStatus: v.optional(TaskStatus),
    status: TaskStatus,
    assignedAgent: v.optional(v.string()),
    projectId: v.optional(v.string()),
  }),
  occurredAt: Timestamp,
});
export type TaskEventData = v.InferOutput<typeof TaskEventData>;

/**
 * `data` of the agent events: the execution as lists return it, without its number of steps, and two fields that it has
 * once it has ended.
 */
export const ExecutionEventData = v.object({
  execution: v.object({
    ...v.omit(ExecutionListItem, [
      'stepCount',
      'tokensUsed',
      'tokensEstimated',
      'qualityGates',
      'inputStart',
      'taskTitle',
    ]).entries,
    tokensUsed: v.optional(v.number()),
    error: v.optional(v.string()),
  }),
  occurredAt: Timestamp,
});
export type ExecutionEventData = v.InferOutput<typeof ExecutionEventData>;

/** An event of a task. */
export type TaskEvent = { event: Extract<EventName, `task.${string}`>; data: TaskEventData };

/**
 * An event of an execution. Filters of webhooks match the fields of its task at the time of the event, which are not
 * sent. An execution without a task has none.
 */
export type ExecutionEvent = {
  event: Extract<EventName, `agent.${string}`>;
  data: ExecutionEventData;
  taskFields?: Pick<TaskEventData['task'], 'projectId' | 'assignedAgent'>;
};

/** An event that webhooks receive. */
export type PublicEvent = TaskEvent | ExecutionEvent;
