import type { Context } from '../context/context.ts';
import type { CursorPage } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import {
  type EventOfWebhook,
  maxWebhookEventsRead,
  type WebhookEventQuery,
} from '../contract/webhooks/webhook-events.ts';
import type { Item } from '../table/access/write.ts';
import type { SentRequest } from '../table/deliveries/attempt-items.ts';
import { deliveryStateOf, isBegun } from '../table/deliveries/delivery-state.ts';
import { pageFromParts, readNewestParts, taskOf } from '../table/events/event-feed.ts';
import { type LoggedEvent, subscribedTimeOf, taskFieldsOfEvent } from '../table/events/event-log.ts';
import { type DeliveryRows, readDelivery, readDeliveryRows } from '../table/recoveries/delivery-rows.ts';
import { receives } from '../table/webhooks/subscriptions.ts';
import { readWebhook } from '../table/webhooks/webhooks.ts';
import { firstAttemptOf } from './deliveries/first-attempts.ts';
import { hintOf, nextAttemptOf } from './delivery-details.ts';
import { readSubscriptions, type SubscribedWebhook } from './recoveries/missed-events.ts';

/** How many events are compared with their rows in one step: one more than the longest page has. */
const stepSize = 101;

/** How many rows for each event are read in advance: the attempts of the default retry schedule, and a redelivery. */
const rowsPerEvent = 5;

/** The attributes of a row that the list shows, beside the attributes that decide the state. */
const shownAttributes = ['httpStatus', 'durationMs', 'sent'];

/**
 * Returns a page of the events of a webhook that match the filters, newest first, with the states of their deliveries.
 *
 * @throws `ApiError` `not_found`
 */
export async function listWebhookEvents(
  context: Context,
  organization: Organization,
  webhookId: string,
  { limit, before, state, ...filter }: WebhookEventQuery,
): Promise<CursorPage<EventOfWebhook>> {
  const webhook = await readWebhook(context, organization, webhookId);
  if (!webhook) throw notFound('webhook');
  const to = await readSubscriptions(context, organization, webhook);
  const range = { before, filter, maxRead: maxWebhookEventsRead, partSize: stepSize };
  return pageFromParts(readParts(), limit, ({ eventId }) => eventId);

  async function* readParts(): AsyncGenerator<CursorPage<EventOfWebhook>> {
    for await (const { items, next } of readNewestParts(context, organization, range)) {
      const events = await readWebhookEvents(context, to, items);
      yield { items: events.filter((event) => state === undefined || event.state === state), next };
    }
  }
}

/** Returns the events among neighbouring ones, newest first, that a webhook receives, with the states of their deliveries. */
async function readWebhookEvents(
  context: Context,
  to: SubscribedWebhook,
  events: readonly LoggedEvent[],
): Promise<EventOfWebhook[]> {
  const [newest, oldest] = [events[0], events.at(-1)];
  if (!newest || !oldest) return [];
  const found = await readDeliveryRows(context, newest.organization, to.webhook.id, {
    from: timeOf(ulidOf(oldest.id)),
    to: timeOf(ulidOf(newest.id)),
    limit: rowsPerEvent * events.length,
    also: shownAttributes,
  });
  return (await Promise.all(events.map((event) => readWebhookEvent(context, to, event, found)))).flat();
}

/** Returns an event with the state of its delivery to a webhook; nothing if the webhook does not receive it. */
async function readWebhookEvent(
  context: Context,
  { webhook, subscriptions }: SubscribedWebhook,
  logged: LoggedEvent,
  found: DeliveryRows,
): Promise<EventOfWebhook[]> {
  const first = firstAttemptOf(logged, webhook.id);
  const delivery = await readDelivery(context, found, first);
  const time = subscribedTimeOf(logged);
  const subscriber = subscriptions.get(logged.event);
  const isReceived = subscriber && receives(subscriber, logged.item, time, () => taskFieldsOfEvent(logged));
  if (!isBegun(delivery) && !isReceived) return [];
  const { rows, next } = delivery;
  const state = deliveryStateOf(delivery, webhook, time);
  return [
    {
      eventId: logged.id,
      event: logged.event,
      occurredAt: first.dueAt,
      deliveryId: first.deliveryId,
      state,
      attempts: rows.length,
      ...lastAttemptOf(rows),
      ...nextAttemptOf(state, next),
      ...subjectOf(logged),
    },
  ];
}

/** Returns when the attempts of a delivery began, and the result of the last one; nothing without attempts. */
function lastAttemptOf(rows: readonly Item[]): Partial<EventOfWebhook> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (!first || !last) return {};
  return {
    firstAttemptAt: beginOf(first),
    lastAttemptAt: beginOf(last),
    httpStatus: last.httpStatus as number,
    ...(last.error !== undefined && { error: last.error as string }),
    ...hintOf(last),
  };
}

/** Returns when an attempt began; ISO 8601. Rows of versions before 0.2.0 have only its end and its duration. */
function beginOf({ sent, deliveredAt, durationMs }: Item): string {
  const begunAt = (sent as SentRequest | undefined)?.at;
  return timestamp(begunAt ?? Date.parse(deliveredAt as string) - (durationMs as number));
}

/** Returns what an event is about: the ids of its task and its execution, and their names in its data. */
function subjectOf({
  item,
  data,
}: LoggedEvent): Pick<EventOfWebhook, 'taskId' | 'taskTitle' | 'executionId' | 'agentName'> {
  const { task, execution } = JSON.parse(data) as { task?: { title: string }; execution?: { agentName: string } };
  const taskId = item.startsWith('tk_') ? item : taskOf({ data });
  return {
    ...(taskId !== undefined && { taskId }),
    ...(task && { taskTitle: task.title }),
    ...(execution && { executionId: item, agentName: execution.agentName }),
  };
}
