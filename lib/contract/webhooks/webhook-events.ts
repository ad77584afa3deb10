import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { ExecutionId } from '../executions/executions.ts';
import { count, described, pageLimit, Timestamp, WebhookId } from '../shapes.ts';
import { TaskId } from '../tasks/tasks.ts';
import { eventFilters, isRange } from './event-log.ts';
import { EventId, EventName } from './events.ts';
import { AttemptDetail, Delivery, DeliveryId, DeliveryState } from './webhooks.ts';

/** The largest number of events that a page of a webhook's events reads, whether they match or not. */
export const maxWebhookEventsRead = 2_000;

/** An event of a webhook, with the state of its delivery. */
export const EventOfWebhook = v.object({
  eventId: EventId,
  event: EventName,
  occurredAt: described(Timestamp, 'When the change was made.'),
  deliveryId: DeliveryId,
  state: Delivery.entries.state,
  attempts: described(count, 'Number of attempts that were made, with redeliveries and those of recoveries.'),
  firstAttemptAt: v.optional(described(Timestamp, 'When the first attempt began; absent before it has ended.')),
  lastAttemptAt: v.optional(described(Timestamp, 'When the last attempt began.')),
  httpStatus: v.optional(described(count, 'HTTP status of the receiver in the last attempt; 0 if it did not respond.')),
  error: v.optional(described(v.string(), 'Why the last attempt failed; absent if it succeeded.')),
  nextAttemptAt: Delivery.entries.nextAttemptAt,
  hint: AttemptDetail.entries.hint,
  taskId: v.optional(described(TaskId, 'The task of the event, or of its execution.')),
  taskTitle: v.optional(
    described(v.string(), 'The title of that task after the change; absent in events of executions and webhooks.'),
  ),
  executionId: v.optional(described(ExecutionId, 'The execution of the event.')),
  agentName: v.optional(described(v.string(), 'The agent of that execution.')),
});
export type EventOfWebhook = v.InferOutput<typeof EventOfWebhook>;

const WebhookEventQuery = v.pipe(
  v.object({
    limit: pageLimit,
    before: v.optional(described(EventId, 'Return the newest events before this event, or before this `next`.')),
    state: v.optional(described(DeliveryState, 'Return only events whose delivery has this state.')),
    ...eventFilters,
  }),
  v.forward(
    v.check((query) => isRange(query), 'must not be after until'),
    ['since'],
  ),
);
export type WebhookEventQuery = v.InferOutput<typeof WebhookEventQuery>;

export const listWebhookEvents = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/events',
  scope: 'webhooks:read',
  summary: 'List the events of a webhook',
  params: { id: WebhookId },
  query: WebhookEventQuery,
  status: 200,
  data: EventOfWebhook,
  paged: 'cursor',
  servedBy: 'listDeliveries',
});

export const listWebhookEventsReference = (): ApiReference<typeof listWebhookEvents> => ({
  description:
    'Returns the events of the last 90 days that the webhook receives, newest first, each once and with the state of its delivery, however many attempts it had. Use `GET /api/webhooks/:id/deliveries` for the single attempts. For the next page, send `pagination.next` as `before`; it is null at the end of the list.\n\nAn event is listed if the webhook was subscribed to it when it occurred and its filter let it pass, also if the webhook was paused then, or if an attempt was made or requested, as by a recovery. Test events are not listed: they are no events of the log. Without an attempt, events from before the current subscription, and events to which the webhook is no longer subscribed, are not listed either.\n\nAn event must match all filters. A request reads at most 2,000 events of the log, whether they match or not. If few match, a page can have fewer events than `limit`, or none, although the list continues at `next`.',
  params: { id: examples.webhookId },
  data: [
    {
      eventId: examples.eventId,
      event: 'agent.failed',
      occurredAt: examples.ended,
      deliveryId: examples.deliveryId,
      state: 'retrying',
      attempts: 1,
      firstAttemptAt: examples.ended,
      lastAttemptAt: examples.ended,
      httpStatus: 503,
      error: 'The receiver answered 503.',
      nextAttemptAt: examples.retried,
      taskId: examples.taskId,
      executionId: examples.executionId,
      agentName: examples.agentName,
    },
  ],
});
