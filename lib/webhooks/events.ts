import type { Context } from '../context/context.ts';
import type { CursorPage } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Event, EventDelivery, EventDetail, EventQuery } from '../contract/webhooks/event-log.ts';
import { deliveryStateOf, isBegun, readDeliveryAttempts } from '../table/deliveries/delivery-state.ts';
import { type EventFilter, followEvents, readNewestEvents } from '../table/events/event-feed.ts';
import { type LoggedEvent, readEvent, subscribedTimeOf } from '../table/events/event-log.ts';
import { followTime } from '../table/events/log-clock.ts';
import { openLog } from '../table/events/log-times.ts';
import { readWebhooks } from '../table/webhooks/webhooks.ts';
import { firstAttemptOf, readFirstAttempts } from './deliveries/first-attempts.ts';

/** Returns a page of the events that match the filters: the oldest ones after `after`, or the newest ones without it. */
export async function listEvents(
  context: Context,
  organization: Organization,
  { limit, after, before, ...filter }: EventQuery,
): Promise<CursorPage<Event>> {
  const { items, next } =
    after === undefined
      ? await readNewestEvents(context, organization, { before, limit, filter })
      : await followLog(context, organization, { after, limit, filter });
  return { items: items.map(eventOf), next };
}

async function followLog(
  context: Context,
  organization: Organization,
  page: { after: string; limit: number; filter: EventFilter },
): Promise<CursorPage<LoggedEvent>> {
  const newest = (await openLog(context, organization))?.newest;
  return followEvents({ ...context, clock: () => followTime(context) }, organization, { ...page, newest });
}

/**
 * Returns an event with its deliveries to the webhooks that exist.
 *
 * @throws `ApiError` `not_found`
 */
export async function getEvent(context: Context, organization: Organization, id: string): Promise<EventDetail> {
  const logged = await readEvent(context, organization, id);
  if (!logged) throw notFound('event');
  const [webhooks, first] = await Promise.all([
    readWebhooks(context, organization),
    readFirstAttempts(context, logged),
  ]);
  const subscribed = new Set(first.map(({ webhookId }) => webhookId));
  const deliveries = await Promise.all(
    webhooks.map(async (webhook): Promise<EventDelivery[]> => {
      const message = firstAttemptOf(logged, webhook.id);
      const attempts = await readDeliveryAttempts(context, message);
      // A webhook that is no longer subscribed can have received the event.
      if (!isBegun(attempts) && !subscribed.has(webhook.id)) return [];
      const { deliveryId } = message;
      const state = deliveryStateOf(attempts, webhook, subscribedTimeOf(logged));
      return [{ webhookId: webhook.id, deliveryId, state, attempts: attempts.rows.length }];
    }),
  );
  return { ...eventOf(logged), deliveries: deliveries.flat() };
}

/** Returns an event in the log as responses have it. */
function eventOf({ id, event, data }: LoggedEvent): Event {
  return { id, event, occurredAt: timestamp(timeOf(ulidOf(id))), data: JSON.parse(data) };
}
