import * as v from 'valibot';
import { AgentId } from './agents.ts';
import { ExecutionId } from './executions.ts';
import { Organization } from './organization.ts';
import { Timestamp } from './shapes.ts';
import { TaskId } from './tasks.ts';
import { DeliveryId, WebhookId } from './webhooks.ts';

/** The request that something is done for, as far as it is known: it goes with every message and into every line of a log. */
const requestId = v.optional(v.string());

/**
 * What stands in the queues of deliveries: which attempt of which delivery to make, and from when. Only a wake-up; the
 * delivery's item says whether there is anything to do (design §5). No secret and no text is in it.
 */
export const DeliveryMessage = v.object({
  organization: Organization,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
  attempt: v.number(),
  dueAt: Timestamp,
  /** It was sent to the queue of slow webhooks; it is attempted there, whether the webhook still is slow or not. */
  slow: v.optional(v.literal(true)),
  requestId,
});
export type DeliveryMessage = v.InferOutput<typeof DeliveryMessage>;

/** What stands in the queue of purges: which deleted agent or task to purge what is left of. */
export const PurgeMessage = v.union([
  v.object({ organization: Organization, agentId: AgentId, requestId }),
  v.object({ organization: Organization, taskId: TaskId, requestId }),
]);
export type PurgeMessage = v.InferOutput<typeof PurgeMessage>;

/** What stands in the queue of executions: which one to carry out. Only a wake-up, like the others. */
export const ExecutionMessage = v.object({ organization: Organization, executionId: ExecutionId, requestId });
export type ExecutionMessage = v.InferOutput<typeof ExecutionMessage>;
