import * as v from 'valibot';
import { AgentId } from '../contract/agents.ts';
import { EventId } from '../contract/events.ts';
import { ExecutionId } from '../contract/executions.ts';
import { Organization } from '../contract/organization.ts';
import { Timestamp } from '../contract/shapes.ts';
import { TaskId } from '../contract/tasks.ts';
import { DeliveryId, WebhookId } from '../contract/webhooks.ts';

/** The request that something is done for, as far as it is known: it goes with every message and into every line of a log. */
const requestId = v.optional(v.string());

/** Which attempt of which delivery to make, and from when: all that the attempt needs, no secret and no text of users. */
const named = {
  organization: Organization,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
  /** The event in the log. Absent in messages of versions before the log, which kept the event with each delivery. */
  eventId: v.optional(EventId),
  attempt: v.number(),
  /** The sort key of the failed attempt before it, whose row lists this one for the sweeper until it is made. */
  listedBy: v.optional(v.string()),
  /** It was sent to the queue of slow webhooks; it is attempted there, whether the webhook still is slow or not. */
  slow: v.optional(v.literal(true)),
  requestId,
};

/** An attempt to make, and the moment from which on it is due. */
const Attempt = v.object({ ...named, dueAt: Timestamp });
export type DeliveryMessage = v.InferOutput<typeof Attempt>;

/**
 * An attempt as it stands in the queues of deliveries. It does not call its moment `dueAt`: functions of the version before,
 * which look for an item of the delivery, would take it for one that has ended. So they fail, and it comes again to those
 * that know it.
 */
const Sent = v.object({ ...named, due: Timestamp });
export type SentDelivery = v.InferOutput<typeof Sent>;

/** What stands in the queues of deliveries, also as versions before have sent it. */
export const DeliveryMessage = v.union([
  v.pipe(
    Sent,
    v.transform(({ due, ...rest }): DeliveryMessage => ({ ...rest, dueAt: due })),
  ),
  Attempt,
]);

/** What stands in the queue of purges: which deleted agent or task to purge what is left of. */
export const PurgeMessage = v.union([
  v.object({ organization: Organization, agentId: AgentId, requestId }),
  v.object({ organization: Organization, taskId: TaskId, requestId }),
]);
export type PurgeMessage = v.InferOutput<typeof PurgeMessage>;

/** What stands in the queue of executions: which one to carry out. Only a wake-up, like the others. */
export const ExecutionMessage = v.object({ organization: Organization, executionId: ExecutionId, requestId });
export type ExecutionMessage = v.InferOutput<typeof ExecutionMessage>;
