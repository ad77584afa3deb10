import type { Context } from '../context/context.ts';
import { notFound } from '../contract/errors.ts';
import { timeOf, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { EventName } from '../contract/webhooks/events.ts';
import type { AttemptDetail, Delivery, DeliveryState } from '../contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../names/messages.ts';
import { deliveryBody } from '../sender/delivery-body.ts';
import { requestHeaders, unsignedHeaders } from '../sender/headers.ts';
import type { BatchingContext } from '../table/access/batchers.ts';
import { getEach } from '../table/access/reads.ts';
import type { Item } from '../table/access/write.ts';
import { recordFrom, type SentRequest } from '../table/deliveries/attempt-items.ts';
import {
  type DeliveryAttempts,
  deliveryStateOf,
  isBegun,
  readDeliveryAttempts,
} from '../table/deliveries/delivery-state.ts';
import { readOldAttempts } from '../table/deliveries/old-attempts.ts';
import { type DeliveryOfWebhook, firstAttemptOfDelivery } from '../table/deliveries/redeliveries.ts';
import { type KeptResponse, responseFrom, responseKeyOf, responsesEnd } from '../table/deliveries/responses.ts';
import { type EventToSend, readEvent } from '../table/events/event-log.ts';
import { readWebhook } from '../table/webhooks/webhooks.ts';
import { readWaitingEvent } from './deliveries/first-attempts.ts';

/** The maximum number of attempts in a response. With their responses, more could exceed what Lambda can return. */
export const maxDetails = 100;

/** A delivery that was found: its attempts, and its event, unless that is no longer stored or is a test event. */
type Found = DeliveryAttempts & { eventId?: string | undefined; source?: EventToSend | undefined };

/**
 * Returns a delivery with its attempts. The body of an attempt and the headers of its request are not stored: they are
 * computed again from the event and the time of the attempt.
 *
 * @throws `ApiError` `not_found`
 */
export async function getDelivery(
  context: BatchingContext & Pick<Context, 'clock' | 'responseDays'>,
  organization: Organization,
  { webhookId, deliveryId }: Omit<DeliveryOfWebhook, 'organization'>,
): Promise<Delivery> {
  const [webhook, found] = await Promise.all([
    readWebhook(context, organization, webhookId),
    findDelivery(context, { organization, webhookId, deliveryId }),
  ]);
  if (!webhook) throw notFound('webhook');
  if (!found) throw notFound('delivery');
  const { next, eventId, source } = found;
  const rows = found.rows.slice(-maxDetails);
  const responses = await readResponses(context, rows);
  const state = deliveryStateOf(found, webhook, source?.logTime ?? timeOf(ulidOf(deliveryId)));
  const last = rows.at(-1);
  return {
    deliveryId,
    ...(eventId !== undefined && { eventId }),
    event: (last?.event ?? source?.event) as EventName,
    ...(last?.test === true && { test: true }),
    state,
    ...nextAttemptOf(state, next),
    body: (last && isKept(context, last) && bodyFor(last, source)) || null,
    attempts: rows.map((row, at) => attemptDetail(context, row, source, responses[at])),
  };
}

/** Returns when the next attempt of a delivery is due, if there is one. */
export function nextAttemptOf(
  state: DeliveryState,
  next: DeliveryMessage | undefined,
): Pick<Delivery, 'nextAttemptAt'> {
  return next && (state === 'pending' || state === 'retrying') ? { nextAttemptAt: next.dueAt } : {};
}

/** Returns the attempts and the event of a delivery; `undefined` if the webhook has no such delivery. */
async function findDelivery(context: BatchingContext, delivery: DeliveryOfWebhook): Promise<Found | undefined> {
  const attempts = await readDeliveryAttempts(context, firstAttemptOfDelivery(delivery));
  const eventId = (attempts.rows.find((row) => row.eventId)?.eventId ?? attempts.next?.eventId) as string | undefined;
  const source = eventId === undefined ? undefined : await readEvent(context, delivery.organization, eventId);
  if (isBegun(attempts)) return { ...attempts, eventId, source };
  const waiting = await readWaitingEvent(context, delivery);
  if (waiting) return { ...attempts, eventId: waiting.id, source: waiting };
  const old = await readOldAttempts(context, delivery);
  return old.rows.length > 0 || old.next ? old : undefined;
}

/** Returns the stored response of each row; `undefined` for a row without one. */
async function readResponses(context: BatchingContext, rows: readonly Item[]): Promise<(KeptResponse | undefined)[]> {
  const kept = rows.filter((row) => (row.sent as SentRequest | undefined)?.kept);
  const items = await getEach(context.table, kept.map(responseKeyOf));
  const responses = new Map(kept.map((row, at) => [row, items[at] && responseFrom(items[at])]));
  return rows.map((row) => responses.get(row));
}

/** Returns an attempt with its request and its response. */
function attemptDetail(
  context: Pick<Context, 'clock' | 'responseDays'>,
  row: Item,
  source: EventToSend | undefined,
  response: KeptResponse | undefined,
): AttemptDetail {
  const { event, deliveryId, ...record } = recordFrom(row);
  const absent = { requestHeaders: null, responseHeaders: null, responseBody: null };
  const sent = row.sent as SentRequest | undefined;
  if (!sent) return { event, deliveryId, ...record, ...absent };
  const { at: sentAt, host, signed, ip, kept, keepAlive = false, dns, connect, tls, firstByte } = sent;
  // In order of time, which a map of the table does not keep.
  const phases = Object.entries({ dns, connect, tls, firstByte }).filter(([, ms]) => ms !== undefined);
  const unsigned = unsignedHeaders({ event, deliveryId, sentAt }, signed);
  const received = isKept(context, row) ? (kept ? response : kept === false && emptyResponse) : undefined;
  return {
    ...{ event, deliveryId, ...record, ...absent },
    ...hintOf(row),
    ...(ip !== undefined && { address: ip }),
    ...(phases.length > 0 && { phases: Object.fromEntries(phases) }),
    requestHeaders: requestHeaders(unsigned, host, { body: bodyFor(row, source), keepAlive }),
    ...(received && {
      responseHeaders: received.headers,
      responseBody: received.body,
      truncated: received.truncated,
    }),
  };
}

/** Returns the hint of an attempt: a receiver seems to have refused it because it was not signed. */
export function hintOf({ sent, httpStatus }: Item): Pick<AttemptDetail, 'hint'> {
  const isRefused = httpStatus === 401 || httpStatus === 403;
  return isRefused && (sent as SentRequest | undefined)?.signed === false ? { hint: 'unsigned' } : {};
}

/** The response of a success with an empty body, which has no item. */
const emptyResponse = { headers: null, body: '', truncated: false };

/** Returns whether the body and the response of an attempt are still shown. TTL deletes later. */
function isKept({ clock, responseDays }: Pick<Context, 'clock' | 'responseDays'>, row: Item): boolean {
  return clock() < responsesEnd(row.deliveredAt as string, responseDays);
}

/** Returns the body of an attempt as it was sent; `undefined` if the event or the time of the attempt is not known. */
function bodyFor(row: Item, source: EventToSend | undefined): string | undefined {
  const sent = row.sent as SentRequest | undefined;
  // The row of a test event has its data, because it is not in the event log.
  const data = (row.data as string | undefined) ?? source?.data;
  if (!sent || data === undefined) return undefined;
  const { deliveryId, event } = recordFrom(row);
  return deliveryBody({ deliveryId, event, data: JSON.parse(data) }, sent.at);
}
