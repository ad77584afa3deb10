import * as v from 'valibot';
import { ExecutionId } from '../contract/executions/executions.ts';
import { Organization } from '../contract/organization.ts';
import { AgentName, Timestamp, WebhookId } from '../contract/shapes.ts';
import { TaskId } from '../contract/tasks/tasks.ts';
import { EventId, EventName } from '../contract/webhooks/events.ts';
import { DeliveryId } from '../contract/webhooks/webhooks.ts';

/** The id of the request that caused a message, if it is known. It is passed on in every message and every log line. */
const requestId = v.optional(v.string());

/**
 * The event of an attempt, as the event log has it: its name, its data as JSON, and its time by the clock of the log, if it
 * is not the time of its id.
 */
const Content = v.object({ event: EventName, data: v.string(), logTime: v.optional(v.number()) });

/** The largest data of an event that a message carries, in bytes. */
export const carriedBytes = 1024;

/** The fields of an attempt of a delivery: ids, no secrets, and at most the event as texts of users. */
const attemptFields = {
  organization: Organization,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
  /**
   * The event in the event log. Absent in messages of versions without that log, which stored the event with each
   * delivery.
   */
  eventId: v.optional(EventId),
  /**
   * The event, so that the worker need not read it. Absent if its data is larger than `carriedBytes`, in messages that the
   * sweeper sends, in messages of versions up to 0.2.0, and if a later version writes it otherwise: the worker reads the
   * event then.
   */
  content: v.fallback(v.optional(Content), undefined),
  attempt: v.number(),
  /** The sort key of the previous, failed attempt. Its row lists this attempt for the sweeper until it is made. */
  listedBy: v.optional(v.string()),
  /** The attempt has an item of its own, which lists it for the sweeper until it is made; see `parked-attempts.ts`. */
  parked: v.optional(v.literal(true)),
  /** That item is in the partition of the attempt log, where version 0.2.0 has stored it. */
  parkedInLog: v.optional(v.literal(true)),
  /**
   * The message was sent to the queue of slow webhooks, where attempts need leases. If its webhook needs none any more, the
   * message is sent to the queue of its attempt.
   */
  slow: v.optional(v.literal(true)),
  /** The time that the attempt has booked, if its webhook has a maximum of attempts in a second and had no permit soon. */
  bookedAt: v.optional(Timestamp),
  /** The version of the webhook's pace in which it has booked; see `bookings.ts`. Absent before its first change. */
  paceVersion: v.optional(v.number()),
  /**
   * A caller has requested the attempt. It has no retry, unless the schedule begins again with it, and its queue is the queue of
   * first attempts.
   */
  redelivery: v.optional(v.literal(true)),
  /** The number of the attempt with which the retry schedule began again: of a recovery, or one that replaced a retry. */
  scheduleStart: v.optional(v.number()),
  /** The ULID of the recovery whose attempt it is: if that is cancelled, the attempt is not made. */
  recovery: v.optional(v.string()),
  requestId,
};

/** A scheduled attempt and its due time. */
const Attempt = v.object({ ...attemptFields, dueAt: Timestamp });
export type DeliveryMessage = v.InferOutput<typeof Attempt>;

/**
 * The message of an attempt in the queues of deliveries. Its due time is named `due` and not `dueAt`: functions of the
 * previous version, which look for an item of the delivery, would treat the delivery as ended. With the other name they
 * fail, and the message is delivered again, to functions of this version.
 */
const Sent = v.object({ ...attemptFields, due: Timestamp });
export type SentDelivery = v.InferOutput<typeof Sent>;

/** The schema of messages in the queues of deliveries, including messages of earlier versions. */
export const DeliveryMessage = v.union([
  v.pipe(
    Sent,
    v.transform(({ due, ...rest }): DeliveryMessage => ({ ...rest, dueAt: due })),
  ),
  Attempt,
]);

/**
 * An order in the queue of first attempts, so that nobody waits for the sweeper: to continue a recovery, unless its entry in the
 * sweeper's index (`dueAt`) has changed, to send what a pause has held back, or to begin the recovery of a webhook with
 * `autoRecover`.
 */
export const Order = v.object({
  organization: Organization,
  webhookId: WebhookId,
  order: v.variant('kind', [
    v.object({ kind: v.literal('recovery'), recoveryId: v.string(), dueAt: Timestamp }),
    v.object({ kind: v.literal('release'), version: v.number() }),
    v.object({ kind: v.literal('auto-recovery') }),
  ]),
  requestId,
});
export type Order = v.InferOutput<typeof Order>;

/** An order in the queue of first attempts, which is always taken at once: to let the dependents of a task follow it. */
export const TaskOrder = v.object({
  organization: Organization,
  taskId: TaskId,
  order: v.object({ kind: v.picklist(['dependents', 'deleted']) }),
  requestId,
});
export type TaskOrder = v.InferOutput<typeof TaskOrder>;

/** The schema of all messages in the queues of deliveries. */
export const DeliveryOrOrder = v.union([Order, TaskOrder, DeliveryMessage]);

/** A message in the queue of executions: an execution to run. */
export const ExecutionMessage = v.object({ organization: Organization, executionId: ExecutionId, requestId });
export type ExecutionMessage = v.InferOutput<typeof ExecutionMessage>;

/**
 * An order in the queue of executions to look whether an agent starts by itself. It may wait for a worker: so would the executions
 * that it starts.
 */
export const AgentOrder = v.object({ organization: Organization, agentName: AgentName, requestId });
export type AgentOrder = v.InferOutput<typeof AgentOrder>;

/** The schema of all messages in the queue of executions. */
export const ExecutionOrOrder = v.union([ExecutionMessage, AgentOrder]);
