import * as v from 'valibot';
import type { Example } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { ExecutionListItem, type ExecutionStatus } from '../executions/executions.ts';
import { described, id, oneOf, Timestamp, WebhookId } from '../shapes.ts';
import { ClaimEndReason, ClaimId } from '../tasks/claims.ts';
import { Comment } from '../tasks/comments.ts';
import { type Task, TaskId, TaskStatus } from '../tasks/tasks.ts';

export const EventId = id('ev', 'an event');

/** `data` of the task events. Only `task.status_changed` has a `previousStatus`; unset fields are absent. */
export const TaskEventData = v.object({
  task: v.object({
    id: TaskId,
    title: v.string(),
    previousStatus: v.optional(described(TaskStatus, 'Only in `task.status_changed`.')),
    status: TaskStatus,
    assignedAgent: v.optional(v.string()),
    projectId: v.optional(v.string()),
  }),
  sequence: v.optional(
    described(
      v.pipe(v.number(), v.integer(), v.minValue(1)),
      'The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0.',
    ),
  ),
  occurredAt: Timestamp,
});
export type TaskEventData = v.InferOutput<typeof TaskEventData>;

/** `data` of the events of claims: the `data` of the task events, and the claim. Only `task.released` has a `reason`. */
export const ClaimEventData = v.object({
  ...TaskEventData.entries,
  claim: v.object({ id: ClaimId, worker: v.string() }),
  reason: v.optional(described(ClaimEndReason, 'Why the claim has ended. Only in `task.released`.')),
});
export type ClaimEventData = v.InferOutput<typeof ClaimEventData>;

/** `data` of the events of comments: the `data` of the task events, for the commented version of the task, and the comment. */
export const CommentEventData = v.object({
  ...TaskEventData.entries,
  comment: v.object({ ...v.pick(Comment, ['id', 'text', 'author', 'review']).entries, taskId: TaskId }),
});
export type CommentEventData = v.InferOutput<typeof CommentEventData>;

/**
 * `data` of the agent events: the execution as lists return it, without its number of steps and what has started
 * it, and two fields that it has once it has ended.
 */
export const ExecutionEventData = v.object({
  execution: v.object({
    ...v.omit(ExecutionListItem, [
      'stepCount',
      'tokensUsed',
      'tokensEstimated',
      'qualityGates',
      'startedBy',
      'inputStart',
      'taskTitle',
      'error',
    ]).entries,
    tokensUsed: v.optional(v.number()),
    error: v.optional(v.string()),
  }),
  occurredAt: Timestamp,
});
export type ExecutionEventData = v.InferOutput<typeof ExecutionEventData>;

/** `data` of the webhook events: the webhook after the change. The URL of its receiver may be secret, so it has only the host. */
export const WebhookEventData = v.object({
  webhook: v.object({
    id: WebhookId,
    host: described(v.string(), 'Host of its URL, with the port if the URL has one.'),
    description: v.optional(v.string()),
    active: described(v.boolean(), 'False while the webhook is paused.'),
    failingSince: v.optional(
      described(
        Timestamp,
        'End of the first failed attempt after which all have failed; in `webhook.recovered`, of the time that has ended.',
      ),
    ),
    disabledReason: v.optional(
      described(oneOf(['failing']), 'Why the service has paused the webhook; absent if a caller paused it.'),
    ),
  }),
  notRecovered: v.optional(
    described(
      v.pipe(v.number(), v.integer(), v.minValue(1)),
      'Only in `webhook.recovered` of a webhook with `autoRecover`: how many missed events are not recovered, because there are too many or they are too old.',
    ),
  ),
  occurredAt: Timestamp,
});
export type WebhookEventData = v.InferOutput<typeof WebhookEventData>;

/** An event: when it is published, and what receivers get. `Of` is the item that the event is about. */
type EventRow<Data, Of> = {
  /** When it is published, as a sentence without its full stop. */
  when: string;
  /** The schema of its data. */
  data: v.GenericSchema<unknown, Data>;
  /**
   * An example of its data, for the API reference. Test deliveries have the same fields and values, with ids of their own
   * and the present time. An optional field is sent only if the example has it.
   */
  example: Example<Data>;
  /**
   * Whether it comes from a change.
   *
   * @param before the item before the change; `undefined` for a new one
   * @param after the item after the change; `undefined` for a deleted one
   */
  comesFrom: (before: Of | undefined, after: Of | undefined) => boolean;
};

/** Returns rows as they are, and keeps their names for the types. */
function rowsOf<AnyName extends string, Data, Of>() {
  return <Name extends AnyName>(rows: { readonly [Key in Name]: EventRow<Data, Of> }) => rows;
}

/** Returns an example of a task in an event. */
function aTask(status: TaskStatus, previous?: { previousStatus: TaskStatus }) {
  const { taskId: id, agentName: assignedAgent, projectId } = examples;
  return { id, title: 'Build the landing page', ...previous, status, assignedAgent, projectId };
}

const aComment = {
  id: examples.commentId,
  text: 'The page is wider than a phone.',
  author: { kind: 'token', name: 'console', id: examples.tokenId },
  taskId: examples.taskId,
} as const;

/** What the events of a task depend on. */
type TaskState = Pick<Task, 'status' | 'claim'>;

const aClaim = { id: examples.claimId, worker: examples.worker };

/** The events of tasks. If several come from one change, the last of them here is published first. */
export const taskEventRows = rowsOf<`task.${string}`, TaskEventData | ClaimEventData, TaskState>()({
  'task.created': {
    when: 'A task is created',
    data: TaskEventData,
    example: { task: aTask('backlog'), sequence: 1, occurredAt: examples.planned },
    comesFrom: isNew,
  },
  'task.completed': {
    when: 'A task reaches `done`',
    data: TaskEventData,
    example: { task: aTask('done'), sequence: 5, occurredAt: examples.ended },
    comesFrom: (before, after) => hasNewStatus(before, after) && after?.status === 'done',
  },
  'task.status_changed': {
    when: 'A caller or an execution changes the status of a task',
    data: TaskEventData,
    example: { task: aTask('in_progress', { previousStatus: 'assigned' }), sequence: 3, occurredAt: examples.started },
    comesFrom: hasNewStatus,
  },
  'task.claimed': {
    when: 'A worker claims a task',
    data: ClaimEventData,
    example: { task: aTask('in_progress'), claim: aClaim, sequence: 3, occurredAt: examples.started },
    comesFrom: (before, after) => after?.claim !== undefined && after.claim.id !== before?.claim?.id,
  },
  'task.released': {
    when: 'The claim of a worker on a task ends',
    data: ClaimEventData,
    example: { task: aTask('assigned'), claim: aClaim, reason: 'released', sequence: 4, occurredAt: examples.ended },
    comesFrom: (before, after) =>
      before?.claim !== undefined && after !== undefined && after.claim?.id !== before.claim.id,
  },
});

/** The events of what is told about a task: they come from items of their own, each from a new one. */
const taskNewsRows = rowsOf<`task.${string}`, TaskEventData | CommentEventData, object>()({
  'task.commented': {
    when: 'Somebody comments on a task or reviews it with a comment',
    data: CommentEventData,
    example: { task: aTask('up_for_review'), comment: aComment, sequence: 4, occurredAt: examples.ended },
    comesFrom: isNew,
  },
  'task.deleted': {
    when: 'A task is deleted. It has the fields of the task as it was',
    data: TaskEventData,
    example: { task: aTask('backlog'), sequence: 6, occurredAt: examples.ended },
    comesFrom: isNew,
  },
});

/** Returns an example of an execution in an event. */
function anExecution(status: ExecutionStatus, end?: Partial<ExecutionEventData['execution']>) {
  const { executionId: id, agentName, taskId, started: startedAt } = examples;
  return { id, agentName, taskId, status, startedAt, ...end };
}

const itsEnd = {
  completedAt: examples.ended,
  durationMs: examples.durationMs,
  tokensUsed: examples.tokensUsed,
};

/** The events of executions. */
export const executionEventRows = rowsOf<`agent.${string}`, ExecutionEventData, { status: ExecutionStatus }>()({
  'agent.spawned': {
    when: 'An execution starts',
    data: ExecutionEventData,
    example: { execution: anExecution('running'), occurredAt: examples.started },
    comesFrom: becomes('running'),
  },
  'agent.completed': {
    when: 'An execution completes successfully',
    data: ExecutionEventData,
    example: { execution: anExecution('completed', itsEnd), occurredAt: examples.ended },
    comesFrom: becomes('completed'),
  },
  'agent.failed': {
    when: 'An execution ends in an error',
    data: ExecutionEventData,
    example: {
      execution: anExecution('failed', { ...itsEnd, error: 'The model did not answer.' }),
      occurredAt: examples.ended,
    },
    comesFrom: becomes('failed'),
  },
});

/** Returns an example of a webhook in an event. */
function aWebhook(more: Partial<WebhookEventData['webhook']>) {
  return { id: examples.webhookId, host: 'example.com', description: 'Orders, production', active: true, ...more };
}

/** The events of webhooks. An event about a webhook is not sent to it. They come from the items of `own-events.ts`. */
export const webhookEventRows = rowsOf<`webhook.${string}`, WebhookEventData, { event: string }>()({
  'webhook.failing': {
    when: 'The newest attempts of three deliveries to a webhook have failed and none has succeeded since, or a delivery has failed permanently',
    data: WebhookEventData,
    example: { webhook: aWebhook({ failingSince: examples.started }), occurredAt: examples.ended },
    comesFrom: says('webhook.failing'),
  },
  'webhook.recovered': {
    when: 'An attempt to a failing webhook succeeds',
    data: WebhookEventData,
    example: { webhook: aWebhook({ failingSince: examples.started }), occurredAt: examples.retried },
    comesFrom: says('webhook.recovered'),
  },
  'webhook.paused': {
    when: 'A caller or the service pauses a webhook',
    data: WebhookEventData,
    example: {
      webhook: aWebhook({ active: false, failingSince: examples.started, disabledReason: 'failing' }),
      occurredAt: examples.retried,
    },
    comesFrom: says('webhook.paused'),
  },
});

/** The public events (docs/architecture.md#events): all that the code, the API and its reference say of them. */
export const eventRows = { ...taskEventRows, ...taskNewsRows, ...executionEventRows, ...webhookEventRows };

export type EventName = keyof typeof eventRows;
export const eventNames = Object.keys(eventRows) as [EventName, ...EventName[]];
export const EventName = oneOf(eventNames);

/** Whether an item did not exist before a change. */
function isNew(before: object | undefined, after: object | undefined): boolean {
  return before === undefined && after !== undefined;
}

/** Whether an item that exists before and after a change has another status. */
function hasNewStatus(before: { status: string } | undefined, after: { status: string } | undefined): boolean {
  return before !== undefined && after !== undefined && before.status !== after.status;
}

/** Returns whether an item gets a status, by a change or by its creation. */
function becomes(status: ExecutionStatus) {
  return (before: { status: ExecutionStatus } | undefined, after: { status: ExecutionStatus } | undefined): boolean =>
    after?.status === status && before?.status !== status;
}

/** Returns whether the item after a change says that an event has happened. */
function says(event: `webhook.${string}`) {
  return (_: { event: string } | undefined, after: { event: string } | undefined): boolean => after?.event === event;
}

/** An event of a task. */
export type TaskEvent =
  | { event: Exclude<keyof typeof taskEventRows, ClaimEventName> | 'task.deleted'; data: TaskEventData }
  | { event: ClaimEventName; data: ClaimEventData }
  | { event: 'task.commented'; data: CommentEventData };

type ClaimEventName = 'task.claimed' | 'task.released';

/**
 * An event of an execution. Filters of webhooks match the fields of its task at the time of the event, which are not
 * sent. An execution without a task has none.
 */
export type ExecutionEvent = {
  event: keyof typeof executionEventRows;
  data: ExecutionEventData;
  taskFields?: Pick<TaskEventData['task'], 'projectId' | 'assignedAgent'>;
};

/** An event of a webhook. */
export type WebhookEvent = { event: keyof typeof webhookEventRows; data: WebhookEventData };

/** Returns whether an event is about a webhook. */
export function isWebhookEvent(event: string): boolean {
  return Object.hasOwn(webhookEventRows, event);
}

/** An event that webhooks receive. */
export type PublicEvent = TaskEvent | ExecutionEvent | WebhookEvent;
