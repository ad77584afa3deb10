import * as v from 'valibot';
import { AgentId } from '../contract/agents.ts';
import { EventId } from '../contract/events.ts';
import { ExecutionId } from '../contract/executions.ts';
import { Organization } from '../contract/organization.ts';
import { Timestamp } from '../contract/shapes.ts';
import { TaskId } from '../contract/tasks.ts';
import { DeliveryId, WebhookId } from '../contract/webhooks.ts';

/** The id of the request that caused a message, if it is known. It is passed on in every message and every log line. */
const requestId = v.optional(v.string());

/** The fields of an attempt of a delivery: ids only, no secrets and no texts of users. */
const attemptFields = {
  organization: Organization,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
  /**
   * The event in the event log. Absent in messages of versions without that log, which stored the event with each
   * delivery.
   */
  eventId: v.optional(EventId),
  attempt: v.number(),
  /** The sort key of the previous, failed attempt. Its row lists this attempt for the sweeper until it is made. */
  listedBy: v.optional(v.string()),
  /**
   * The message was sent to the queue of slow webhooks. The attempt is made there even if the webhook is no longer
   * slow.
   */
  slow: v.optional(v.literal(true)),
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

/** The schema of messages in the queues of deliveries, including those of earlier versions. */
export const DeliveryMessage = v.union([
  v.pipe(
    Sent,
    v.transform(({ due, ...rest }): DeliveryMessage => ({ ...rest, dueAt: due })),
  ),
  Attempt,
]);

/** A message in the queue of purges: a deleted agent or task whose remaining items are to be deleted. */
export const PurgeMessage = v.union([
  v.object({ organization: Organization, agentId: AgentId, requestId }),
  v.object({ organization: Organization, taskId: TaskId, requestId }),
]);
export type PurgeMessage = v.InferOutput<typeof PurgeMessage>;

/** A message in the queue of executions: an execution to run. */
export const ExecutionMessage = v.object({ organization: Organization, executionId: ExecutionId, requestId });
export type ExecutionMessage = v.InferOutput<typeof ExecutionMessage>;
