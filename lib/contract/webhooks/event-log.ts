import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { ExecutionId } from '../executions/executions.ts';
import { count, described, pageLimit, rangeEnd, Timestamp, WebhookId } from '../shapes.ts';
import { TaskId } from '../tasks/tasks.ts';
import {
  ClaimEventData,
  CommentEventData,
  EventId,
  EventName,
  ExecutionEventData,
  TaskEventData,
  WebhookEventData,
} from './events.ts';
import { DeliveryId, DeliveryState } from './webhooks.ts';

/** The largest number of events that a page of the event log reads, whether they match the filters or not. */
export const maxEventsRead = 10_000;

/** An event in the log. */
export const Event = v.object({
  id: EventId,
  event: EventName,
  occurredAt: described(Timestamp, 'When the change was made.'),
  data: described(
    v.union([ClaimEventData, CommentEventData, TaskEventData, ExecutionEventData, WebhookEventData]),
    'The `data` of its deliveries.',
  ),
});
export type Event = v.InferOutput<typeof Event>;

/** The delivery of an event to one webhook. */
export const EventDelivery = v.object({
  webhookId: WebhookId,
  deliveryId: DeliveryId,
  state: described(
    DeliveryState,
    '`pending`: the first attempt or a redelivery is due or running. `retrying`: a retry is due or running. `delivered`: an attempt succeeded. `exhausted`: all attempts failed, and no other is due. `skipped`: the webhook was paused when the event occurred.',
  ),
  attempts: described(count, 'Number of attempts that were made.'),
});
export type EventDelivery = v.InferOutput<typeof EventDelivery>;

/** An event with its deliveries. */
export const EventDetail = v.object({ ...Event.entries, deliveries: v.array(EventDelivery) });
export type EventDetail = v.InferOutput<typeof EventDetail>;

/** The filters of lists of events. */
export const eventFilters = {
  event: v.optional(described(EventName, 'Return only events with this name.')),
  task_id: v.optional(described(TaskId, 'Return only events of this task, and of executions on this task.')),
  since: v.optional(rangeEnd('Return only events that occurred at this time or later.')),
  until: v.optional(rangeEnd('Return only events that occurred at this time or earlier.')),
};

/** Returns whether the ends of a time range are in order. */
export const isRange = ({ since, until }: { since?: number | undefined; until?: number | undefined }): boolean =>
  since === undefined || until === undefined || since <= until;

const EventQuery = v.pipe(
  v.object({
    limit: pageLimit,
    after: v.optional(
      described(EventId, 'Return the oldest events after this event or this `next`, oldest first. Excludes `before`.'),
    ),
    before: v.optional(described(EventId, 'Return the newest events before this event, newest first.')),
    execution_id: v.optional(described(ExecutionId, 'Return only events of this execution.')),
    ...eventFilters,
  }),
  v.forward(
    v.check(({ after, before }) => after === undefined || before === undefined, 'must not be combined with before'),
    ['after'],
  ),
  v.forward(
    v.check((query) => isRange(query), 'must not be after until'),
    ['since'],
  ),
);
export type EventQuery = v.InferOutput<typeof EventQuery>;

const exampleEvent = {
  id: examples.eventId,
  event: 'task.completed',
  occurredAt: examples.ended,
  data: { task: { id: examples.taskId, title: 'Build the landing page', status: 'done' }, occurredAt: examples.ended },
} as const;

export const listEvents = endpoint({
  method: 'GET',
  path: '/api/webhooks/events',
  scope: 'webhooks:read',
  summary: 'List events',
  query: EventQuery,
  status: 200,
  data: Event,
  paged: 'cursor',
});

export const listEventsReference = (): ApiReference<typeof listEvents> => ({
  description:
    'Returns the events of the last 90 days, newest first, whether a webhook is subscribed to them or not. For the next page, send `pagination.next` as `before`; it is null at the end of the list.\n\nTo follow the log, send `after`. The response then has the oldest events after it, oldest first, and `pagination.next` is the value of `after` for the next request, also if the page is empty. To begin with the oldest event, send `ev_` and 26 zeros; with `since`, it begins at that time. An event is listed 750 ms after it occurred or later. An event that is published late is listed when it is published, although its id is older. So a follower that continues with each `next` misses no event, but can get an event twice, with the same id: ignore ids that you know.\n\nAn event must match all filters. A request reads at most 10,000 events, whether they match or not. If few match, a page can have fewer events than `limit`, or none, although the list continues at `next`.',
  data: [exampleEvent],
});

export const getEvent = endpoint({
  method: 'GET',
  path: '/api/webhooks/events/:id',
  scope: 'webhooks:read',
  summary: 'Get an event',
  params: { id: EventId },
  status: 200,
  data: EventDetail,
  servedBy: 'listEvents',
});

export const getEventReference = (): ApiReference<typeof getEvent> => ({
  description:
    'Returns an event of the last 90 days with its deliveries: one for each webhook that was subscribed to it, or that it was sent to. Deliveries of deleted webhooks are left out.',
  params: { id: examples.eventId },
  data: {
    ...exampleEvent,
    deliveries: [{ webhookId: examples.webhookId, deliveryId: examples.deliveryId, state: 'delivered', attempts: 1 }],
  },
});
