import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { bodyTime, count, described, flag, id, listOf, oneOf, pageQuery, Timestamp, WebhookId } from '../shapes.ts';
import { EventName, eventNames } from './events.ts';

export const RecoveryId = id('rc', 'a recovery');

/**
 * The kinds of events that a recovery sends: all attempts failed; the webhook was paused; the next retry waits; the webhook was
 * not subscribed yet.
 */
export const missedKinds = ['exhausted', 'skipped', 'retrying', 'never_sent'] as const;
export type MissedKind = (typeof missedKinds)[number];

/** The kinds by default. A new webhook would get the events of 90 days as `never_sent`. */
export const usualKinds: readonly MissedKind[] = ['exhausted', 'skipped', 'retrying'];

/** Why events of the range of a recovery are not sent. */
export const leftOutReasons = ['delivered', 'inProgress', 'notIncluded', 'notSubscribed', 'filtered'] as const;
export type LeftOutReason = (typeof leftOutReasons)[number];

/** The bounds and the default of `ratePerSecond`. */
export const recoveryRates = { least: 1, most: 100, standard: 10 } as const;

/** The maximum number of events that a recovery sends. */
export const maxRecoveredEvents = 10_000;

/** The maximum number of events in the range of a recovery, whether it sends them or not. */
export const maxRecoveryRange = 20_000;

/** Returns the schema of an object with a number for each of some names. */
function numbersOf<const Name extends string>(names: readonly Name[]) {
  return v.object(Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>);
}

/** Returns the schema of a time in a body, as Unix time in ms. */
const momentOf = (description: string) => v.pipe(bodyTime(description), v.transform(Date.parse));

const include = v.optional(
  described(
    listOf(oneOf(missedKinds), { min: 1, max: missedKinds.length }),
    '`exhausted`: all attempts failed. `skipped`: the webhook was paused. `retrying`: the last attempt failed, and its retry is not due soon. `never_sent`: the webhook was not subscribed yet, or the message of the first attempt is lost. Default: all but `never_sent`.',
  ),
  [...usualKinds],
);

/** The schema of the maximum rate of a recovery. */
const ratePerSecond = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(recoveryRates.least, `must be at least ${recoveryRates.least}`),
  v.maxValue(recoveryRates.most, `must be at most ${recoveryRates.most}`),
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
    ratePerSecond: v.optional(
      described(
        ratePerSecond,
        `The maximum number of events that are sent in a second. A smaller \`maxPerSecond\` of the webhook counts. Default: ${recoveryRates.standard}.`,
      ),
    ),
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
  matchedByKind: described(numbersOf(missedKinds), 'The number of these events by kind.'),
  leftOut: described(
    numbersOf(leftOutReasons),
    'The number of the other events of the range. `delivered`: an attempt succeeded. `inProgress`: an attempt is due soon or running, or has just ended. `notIncluded`: of a kind that is not in `include`, or not in `events`. `notSubscribed`: not subscribed. `filtered`: left out by `taskFilter`.',
  ),
  recoveryId: v.optional(described(RecoveryId, 'Id of the recovery; absent with `dryRun`, and if no event matched.')),
});
export type RecoveryStarted = v.InferOutput<typeof RecoveryStarted>;

/** The states of a recovery. */
const RecoveryState = oneOf(['running', 'completed', 'cancelled']);

/** A recovery with its progress. */
export const Recovery = v.object({
  id: RecoveryId,
  webhookId: WebhookId,
  state: described(
    RecoveryState,
    '`completed`: one attempt was made for each event that was sent. Retries of failed attempts may follow. `cancelled`: no further attempt is made.',
  ),
  status: described(RecoveryState, 'The same as `state`, for clients of 0.2.'),
  since: Timestamp,
  until: Timestamp,
  events: v.optional(v.array(EventName)),
  include: v.array(oneOf(missedKinds)),
  ratePerSecond: v.optional(described(ratePerSecond, 'Absent for a recovery that 0.2 began.')),
  auto: v.optional(
    described(v.boolean(), 'True if the service has begun it, because of `autoRecover`; absent otherwise.'),
  ),
  matched: described(count, 'Number of events that matched when the recovery began.'),
  sent: described(count, 'Number of events that were sent, or will be within about half a minute.'),
  delivered: described(count, 'Number of these events whose first attempt by the recovery succeeded.'),
  failed: described(count, 'Number of these events whose first attempt by the recovery failed.'),
  createdAt: Timestamp,
  completedAt: v.optional(Timestamp),
  cancelledAt: v.optional(Timestamp),
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
    'Sends all events of a time range that the webhook did not receive, oldest first: at most 10,000, and at most `ratePerSecond`. `since` and `until` compare `occurredAt` of the event. A delivery is left out if an attempt is running, was made in the last 30 seconds, or is due in the next 15, and so is an event that is delivered in the meantime. The last 90 days can be recovered.\n\nAn event whose attempts failed keeps its `deliveryId` and gets the next attempt numbers. A failed attempt of the recovery has the normal retry schedule; the attempt of a `retrying` delivery takes the place of its next retry. The first attempt begins within two seconds after the response. If no event matches, there is no recovery. The recovery continues after any interruption, and sends no event twice. It waits while the webhook is paused, and ends when the webhook is deleted.\n\nThe range can have at most 20,000 events of the organization, subscribed or not. A larger range, or more than 10,000 events to send, lead to 422 `range_too_large`, and `details` names an `until` that works. While a recovery of the webhook is running, the response is 409 `recovery_in_progress`. For a paused webhook it is 409 `webhook_paused`. A dry run is possible in both cases.',
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
  data: {
    matched: 1_800,
    matchedByKind: { exhausted: 1_750, skipped: 0, retrying: 0, never_sent: 50 },
    leftOut: { delivered: 9_120, inProgress: 2, notIncluded: 31, notSubscribed: 540, filtered: 0 },
    recoveryId: examples.recoveryId,
  },
});

const exampleRecovery = {
  id: examples.recoveryId,
  webhookId: examples.webhookId,
  since: examples.hired,
  until: examples.ended,
  include: ['exhausted', 'never_sent'] as MissedKind[],
  ratePerSecond: 10,
  ...{ matched: 1_800, sent: 1_200, delivered: 598, failed: 2 },
  createdAt: examples.ended,
};

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
    'Returns a recovery with its present progress. Recoveries are stored for 90 days. `sent` can differ from `matched`: an event that is delivered in the meantime is not sent, and one whose retries end in the meantime is.',
  params: { id: examples.webhookId, recoveryId: examples.recoveryId },
  data: {
    ...exampleRecovery,
    ...{ state: 'running', status: 'running' },
  },
});

export const listRecoveries = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/recoveries',
  scope: 'webhooks:read',
  summary: 'List the recoveries of a webhook',
  params: { id: WebhookId },
  query: v.object(pageQuery),
  status: 200,
  data: Recovery,
  paged: true,
  servedBy: 'getRecovery',
});

export const listRecoveriesReference = (): ApiReference<typeof listRecoveries> => ({
  description: 'Returns the recoveries of the last 90 days, newest first, each with its present progress.',
  params: { id: examples.webhookId },
  data: [
    {
      ...exampleRecovery,
      ...{ state: 'completed', status: 'completed' },
      ...{ sent: 1_800, delivered: 1_798, failed: 2 },
      completedAt: examples.ended,
    },
  ],
});

export const cancelRecovery = endpoint({
  method: 'POST',
  path: '/api/webhooks/:id/recoveries/:recoveryId/cancel',
  scope: 'webhooks:write',
  summary: 'Cancel a recovery',
  params: { id: WebhookId, recoveryId: RecoveryId },
  status: 200,
  data: Recovery,
  errors: ['recovery_completed'],
});

export const cancelRecoveryReference = (): ApiReference<typeof cancelRecovery> => ({
  description:
    'Stops a recovery: two seconds after the response, no attempt of it begins any more. Attempts that were made stay, with their retries. An event that was not sent yet is missed as before, and a delivery that was retrying has its next retry again. Another recovery can begin about a minute later; until then it is 409 `recovery_in_progress`.\n\nA recovery that is completed leads to 409 `recovery_completed`. A cancelled one can be cancelled again, which changes nothing.',
  params: { id: examples.webhookId, recoveryId: examples.recoveryId },
  data: {
    ...exampleRecovery,
    ...{ state: 'cancelled', status: 'cancelled' },
    cancelledAt: examples.ended,
  },
});
