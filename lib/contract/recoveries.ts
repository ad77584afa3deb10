import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import { EventName, eventNames } from './events.ts';
import * as examples from './examples.ts';
import { bodyTime, count, described, flag, id, listOf, oneOf, Timestamp } from './shapes.ts';
import { WebhookId } from './webhooks.ts';

const RecoveryId = id('rc', 'a recovery');

/**
 * The kinds of events that a recovery sends: all attempts failed; the webhook was paused; the webhook was not subscribed
 * yet.
 */
export const missedKinds = ['exhausted', 'skipped', 'never_sent'] as const;
export type MissedKind = (typeof missedKinds)[number];

/** The maximum number of events that a recovery sends. */
export const maxRecoveredEvents = 10_000;

/** The maximum number of events in the range of a recovery, whether it sends them or not. */
export const maxRecoveryRange = 20_000;

/** Returns the schema of a time in a body, as Unix time in ms. */
const momentOf = (description: string) => v.pipe(bodyTime(description), v.transform(Date.parse));

const include = described(
  listOf(oneOf(missedKinds), { min: 1, max: missedKinds.length }),
  '`exhausted`: all attempts failed. `skipped`: the webhook was paused. `never_sent`: the webhook was not subscribed yet, or the message of the first attempt is lost.',
);

const events = described(
  listOf(EventName, { min: 1, max: eventNames.length }),
  'Only these events; by default all. Of `skipped` and `never_sent`, only subscribed events are sent.',
);

/** The body of `recoverWebhook`. */
export const NewRecovery = v.pipe(
  v.object({
    since: momentOf('The time of the first event.'),
    until: v.optional(momentOf('The time of the last event; by default the time of the request.')),
    events: v.optional(events),
    include,
    dryRun: v.optional(described(flag, 'Only count the events, and send nothing.')),
  }),
  v.forward(
    v.check(({ since, until }) => until === undefined || since <= until, 'must not be after until'),
    ['since'],
  ),
);
export type NewRecovery = v.InferOutput<typeof NewRecovery>;

/** The data that `recoverWebhook` returns. */
export const RecoveryStarted = v.object({
  matched: described(count, 'Number of events that the recovery sends.'),
  recoveryId: v.optional(described(RecoveryId, 'Id of the recovery; absent with `dryRun`.')),
});
export type RecoveryStarted = v.InferOutput<typeof RecoveryStarted>;

/** A recovery with its progress. */
export const Recovery = v.object({
  id: RecoveryId,
  webhookId: WebhookId,
  status: described(
    oneOf(['running', 'completed']),
    '`completed`: one attempt was made for each event that was sent. Retries of failed attempts may follow.',
  ),
  since: Timestamp,
  until: Timestamp,
  events: v.optional(v.array(EventName)),
  include: v.array(oneOf(missedKinds)),
  matched: described(count, 'Number of events that matched when the recovery began.'),
  sent: described(count, 'Number of events that were sent, or will be within about a minute.'),
  delivered: described(count, 'Number of these events whose first attempt by the recovery succeeded.'),
  failed: described(count, 'Number of these events whose first attempt by the recovery failed.'),
  createdAt: Timestamp,
  completedAt: v.optional(Timestamp),
});
export type Recovery = v.InferOutput<typeof Recovery>;

export const recoverWebhook = endpoint({
  method: 'POST',
  path: '/api/webhooks/:id/recover',
  scope: 'webhooks:write',
  summary: 'Send missed events again',
  params: { id: WebhookId },
  body: NewRecovery,
  status: 200,
  data: RecoveryStarted,
  errors: ['webhook_paused', 'recovery_in_progress', 'range_too_large'],
});

export const recoverWebhookReference = (): ApiReference<typeof recoverWebhook> => ({
  description:
    'Sends all events of a time range that the webhook did not receive, oldest first: at most 10,000, and at most 10 per second or `maxPerSecond`. `since` and `until` compare `occurredAt` of the event. Deliveries with an attempt that is running or due later are left out, and so is an event that is delivered in the meantime. The last 90 days can be recovered.\n\nAn event whose attempts all failed keeps its `deliveryId` and gets the next attempt numbers. A failed attempt of the recovery has the normal retry schedule. The first attempts are made within about two minutes after the response. The recovery continues after any interruption, and sends no event twice. It waits while the webhook is paused, and ends when the webhook is deleted.\n\nThe range can have at most 20,000 events of the organization, subscribed or not. A larger range, or more than 10,000 events to send, lead to 422 `range_too_large`, and `details` names an `until` that works. While a recovery of the webhook is running, the response is 409 `recovery_in_progress`. For a paused webhook it is 409 `webhook_paused`. A dry run is possible in both cases.',
  params: { id: examples.webhookId },
  body: { since: examples.hired, include: ['exhausted', 'never_sent'] },
  furtherBodies: {
    'Count the events only': {
      since: examples.hired,
      until: examples.ended,
      events: ['task.completed'],
      include: [...missedKinds],
      dryRun: true,
    },
  },
  data: { matched: 1_800, recoveryId: examples.recoveryId },
});

export const getRecovery = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/recoveries/:recoveryId',
  scope: 'webhooks:read',
  summary: 'Get a recovery',
  params: { id: WebhookId, recoveryId: RecoveryId },
  status: 200,
  data: Recovery,
});

export const getRecoveryReference = (): ApiReference<typeof getRecovery> => ({
  description:
    'Returns the progress of a recovery, which changes about once a minute. Recoveries are stored for 90 days. `sent` can differ from `matched`: an event that is delivered in the meantime is not sent, and one whose retries end in the meantime is.',
  params: { id: examples.webhookId, recoveryId: examples.recoveryId },
  data: {
    id: examples.recoveryId,
    webhookId: examples.webhookId,
    status: 'running',
    since: examples.hired,
    until: examples.ended,
    include: ['exhausted', 'never_sent'],
    matched: 1_800,
    sent: 1_200,
    delivered: 598,
    failed: 2,
    createdAt: examples.ended,
  },
});
