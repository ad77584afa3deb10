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

/** `data` of the task events. `previousStatus` is in `task.status_changed` only; unset fields are absent. */
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

/** `data` of the agent events: the execution as lists show it, and beside that what is known of its end. */
export const ExecutionEventData = v.object({
  execution: v.object({
    ...ExecutionListItem.entries,
    tokensUsed: v.optional(v.number()),
    error: v.optional(v.string()),
  }),
  occurredAt: Timestamp,
});
export type ExecutionEventData = v.InferOutput<typeof ExecutionEventData>;

/** A thing that happened to a task. */
export type TaskEvent = { event: Extract<EventName, `task.${string}`>; data: TaskEventData };

/** A thing that happened to an execution. */
export type ExecutionEvent = { event: Extract<EventName, `agent.${string}`>; data: ExecutionEventData };

/** A thing that happened, as receivers are told of it. */
export type PublicEvent = TaskEvent | ExecutionEvent;
