import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import {
  AgentName,
  count,
  described,
  flag,
  grouped,
  id,
  listOf,
  oneOf,
  ProjectId,
  pageQuery,
  rangeEnd,
  Timestamp,
  text,
  WebhookId,
} from '../shapes.ts';
import { EventId, EventName, eventNames } from './events.ts';

export const DeliveryId = id('dlv', 'a delivery, or of an attempt');

/** White space and control characters, which URL parsers drop or encode, and backslashes, which they take for slashes. */
const rewrittenInUrls = /[\s\p{Cc}\\]/u;

/**
 * White space at the ends is dropped. Other spellings that URL parsers correct are rejected: they are mistakes, and parsers
 * differ in how they read them. `lib/sender/receivers.ts` decides which of these URLs are allowed.
 */
const url = v.pipe(
  text(1, 2048),
  v.check(
    (sent) => !rewrittenInUrls.test(sent.trim()),
    'must not have white space, control characters or backslashes in it; write a space as %20',
  ),
  v.check(
    (sent) => /^[a-z][a-z\d+.-]*:\/\/[^/]/i.test(sent.trim()) && URL.canParse(sent),
    'must be an absolute URL such as https://example.com/hooks',
  ),
  v.metadata({ format: 'uri' }),
  v.description(
    'URL of the receiver: https, port 443 or 8443, a public address, without credentials. White space at its ends is dropped.',
  ),
  v.transform((sent) => sent.trim()),
);

/** What begins the secrets that libraries of Standard Webhooks decode from base64. */
const encodedPrefix = 'whsec_';

/** The secret of a webhook in a request. Base64 that libraries read differently, or not at all, is rejected when it is set. */
const secret = v.pipe(
  text(1, 256),
  v.check(
    (sent) => !sent.startsWith(encodedPrefix) || isCanonicalBase64(sent.slice(encodedPrefix.length)),
    'must have standard base64 with its padding after whsec_, as openssl rand -base64 32 prints it, or begin otherwise',
  ),
);

/** Returns whether a text is what encoding its bytes in base64 gives: at least one byte, in the standard alphabet, padded. */
function isCanonicalBase64(text: string): boolean {
  try {
    return text !== '' && btoa(atob(text)) === text;
  } catch {
    return false;
  }
}

const events = listOf(EventName, { min: 1, max: eventNames.length });
const description = described(text(0, 500), 'Purpose of the webhook.');
const taskFilter = v.pipe(
  v.strictObject(
    {
      projectId: v.optional(described(ProjectId, 'The project of the task.')),
      assignedAgent: v.optional(
        described(AgentName, 'Name of the agent that the task is assigned to. The agent does not have to exist.'),
      ),
    },
    'must be an object',
  ),
  v.minEntries(1, 'must have projectId or assignedAgent'),
  v.description('Send only events of tasks that have all of these values, and of executions on these tasks.'),
);
export type TaskFilter = v.InferOutput<typeof taskFilter>;

/** The largest `maxPerSecond`. A process that takes 50 permits at once writes the item of the webhook up to 20 times a second. */
export const maxPerSecondLimit = 1_000;
const maxPerSecond = described(
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(1, 'must be at least 1'),
    v.maxValue(maxPerSecondLimit, `must be at most ${maxPerSecondLimit}`),
  ),
  'The maximum number of attempts, retries included, that begin in any one second. Test events do not count.',
);

const autoRecover = described(
  flag,
  'Whether the service recovers what the webhook has missed by itself: after a time in which it failed, and when it is resumed.',
);

/** The body of `registerWebhook`. */
export const NewWebhook = v.object({
  url,
  events,
  description: v.optional(description),
  taskFilter: v.optional(taskFilter),
  maxPerSecond: v.optional(maxPerSecond),
  autoRecover: v.optional(autoRecover),
  secret: v.optional(
    described(
      secret,
      'Shared secret for signing deliveries. After `whsec_` it must be standard, padded base64. Without a secret, deliveries are not signed. No response contains the secret.',
    ),
  ),
});
export type NewWebhook = v.InferOutput<typeof NewWebhook>;

/** The body of `updateWebhook`. `null` clears the description, the filter and the maximum. */
export const WebhookPatch = v.object({
  url: v.optional(url),
  events: v.optional(events),
  description: v.nullish(description),
  taskFilter: v.nullish(taskFilter),
  active: v.optional(described(flag, 'False pauses the webhook, true resumes it.')),
  maxPerSecond: v.nullish(maxPerSecond),
  autoRecover: v.optional(autoRecover),
});
export type WebhookPatch = v.InferOutput<typeof WebhookPatch>;

/** A webhook as reads return it, without its secret. */
export const Webhook = v.object({
  id: WebhookId,
  url: v.string(),
  events: v.array(EventName),
  description: v.optional(v.string()),
  taskFilter: v.optional(
    described(
      v.object({ projectId: v.optional(v.string()), assignedAgent: v.optional(v.string()) }),
      'The webhook receives only events of tasks that have all of these values, and of executions on these tasks; absent if it receives all.',
    ),
  ),
  autoRecover: v.optional(
    described(flag, 'Whether the service recovers missed events by itself; absent if never set.'),
  ),
  maxPerSecond: v.optional(
    described(
      v.pipe(count, v.minValue(1)),
      'The maximum number of attempts that begin in any one second; absent if there is none.',
    ),
  ),
  signed: described(v.boolean(), 'Whether deliveries are signed: the webhook has a secret.'),
  secretChangedAt: v.optional(
    described(
      Timestamp,
      'When the secret was set or rotated; absent without a secret, and for one that was set before version 0.3.0.',
    ),
  ),
  active: described(v.boolean(), 'False while the webhook is paused: nothing is sent to it.'),
  disabledReason: v.optional(
    described(oneOf(['failing']), 'Why the service has paused the webhook; absent if a caller paused it.'),
  ),
  disabledAt: v.optional(described(Timestamp, 'When the service paused the webhook.')),
  lastDeliveryAt: v.optional(described(Timestamp, 'End of the latest attempt in the last 90 days, successful or not.')),
  lastSuccessAt: v.optional(
    described(
      Timestamp,
      'End of the latest successful attempt among the newest 100. Earlier ones are known if deliveries have failed permanently since. Lists have it with `include=health`.',
    ),
  ),
  lastFailureAt: v.optional(
    described(Timestamp, 'End of the latest failed attempt among the newest 100. Lists have it with `include=health`.'),
  ),
  failingSince: v.optional(
    described(
      Timestamp,
      'End of the first failed attempt after which all have failed. Failed tests and failed deliveries of events about webhooks do not count. Lists have it with `include=health`.',
    ),
  ),
  createdAt: Timestamp,
});
export type Webhook = v.InferOutput<typeof Webhook>;

const attempts = (whose: string) => described(count, `Attempts ${whose}.`);

/** The numbers of attempts to a webhook in an hour. */
export const AttemptHour = v.object({
  startsAt: described(Timestamp, 'Start of the UTC hour.'),
  status2xx: attempts('that succeeded: the receiver responded with a status of 2xx'),
  status3xx: attempts('with a status of 3xx'),
  status4xx: attempts('with a status of 4xx'),
  status5xx: attempts('with a status of 5xx, or one that HTTP does not define'),
  noResponse: attempts('without a response'),
});
export type AttemptHour = v.InferOutput<typeof AttemptHour>;

/** The data that `getWebhook` returns. */
export const WebhookDetail = v.object({
  ...Webhook.entries,
  hours: v.optional(
    described(
      v.array(AttemptHour),
      'The attempts in each of the last 24 hours, the oldest hour first and the current hour last; only with `include=hours`. Test events count. In the first 24 hours after an upgrade from version 0.2.0 or an earlier one, the hours before the upgrade can be absent.',
    ),
  ),
});
export type WebhookDetail = v.InferOutput<typeof WebhookDetail>;

/** The data that `registerWebhook` returns. */
export const WebhookRegistered = v.pick(Webhook, ['id', 'url', 'events', 'active', 'createdAt']);

const httpStatus = described(count, 'HTTP status of the receiver; 0 if it did not respond.');
const error = v.optional(described(v.string(), 'Why the attempt failed; absent if it succeeded.'));

/** One attempt of a delivery. */
export const DeliveryRecord = v.object({
  id: described(DeliveryId, 'Id of this attempt. The first attempt has the id of the delivery.'),
  deliveryId: described(
    DeliveryId,
    'Id of the delivery, which X-Service-Delivery has. It is the same for all attempts of a delivery.',
  ),
  attempt: described(v.pipe(count, v.minValue(1)), 'Number of the attempt, starting at 1.'),
  event: EventName,
  httpStatus,
  durationMs: count,
  deliveredAt: described(Timestamp, 'End of the attempt.'),
  redelivery: described(v.boolean(), 'Whether the attempt was a retry or a redelivery.'),
  error,
  test: v.optional(
    described(
      v.boolean(),
      'True for a test event; absent otherwise, and for attempts that were made before version 0.2.0.',
    ),
  ),
});
export type DeliveryRecord = v.InferOutput<typeof DeliveryRecord>;

/** The results of an attempt by which attempts can be filtered. */
export const attemptStatuses = ['delivered', 'failed'] as const;

/** The largest number of attempts that a filtered list reads, whether they match or not. */
export const maxFilteredAttempts = 10_000;

const DeliveryQuery = v.pipe(
  v.object({
    status: v.optional(
      described(oneOf(attemptStatuses), 'Return only attempts that succeeded (`delivered`) or failed (`failed`).'),
    ),
    event: v.optional(described(EventName, 'Return only attempts to deliver this event.')),
    since: v.optional(rangeEnd('Return only attempts that ended at this time or later.')),
    until: v.optional(rangeEnd('Return only attempts that ended at this time or earlier.')),
    ...pageQuery,
  }),
  v.forward(
    v.check(
      ({ since, until }) => since === undefined || until === undefined || since <= until,
      'must not be after until',
    ),
    ['since'],
  ),
);

/** The filters of a list of attempts; `since` and `until` are Unix times in ms. */
export type AttemptFilter = Partial<Pick<v.InferOutput<typeof DeliveryQuery>, 'status' | 'event' | 'since' | 'until'>>;

/** The body of `testWebhook`. */
export const TestEvent = v.object({
  event: described(EventName, 'Any event. The webhook does not have to be subscribed to it.'),
});

/** The result of a test delivery. */
export const TestResult = v.object({
  deliveryId: DeliveryId,
  httpStatus,
  responseBody: described(v.string(), 'First 16 KiB of the response body; empty if the receiver did not respond.'),
  durationMs: count,
  error,
});
export type TestResult = v.InferOutput<typeof TestResult>;

/** The states of a delivery, see `lib/table/deliveries/delivery-state.ts`. */
export const DeliveryState = oneOf(['pending', 'retrying', 'delivered', 'exhausted', 'skipped']);
export type DeliveryState = v.InferOutput<typeof DeliveryState>;

const milliseconds = (what: string) => v.optional(described(count, `Milliseconds ${what}.`));

/** One attempt of a delivery, with its request and its response. */
export const AttemptDetail = v.object({
  ...DeliveryRecord.entries,
  hint: v.optional(
    described(
      oneOf(['unsigned']),
      'What may help, if the service knows it. `unsigned`: the receiver responded 401 or 403 to a delivery without a signature, because the webhook has no secret.',
    ),
  ),
  address: v.optional(described(v.string(), 'IP address of the connection; absent if there was none.')),
  phases: v.optional(
    described(
      v.object({
        dns: milliseconds('to resolve the host name'),
        connect: milliseconds('to open the connection'),
        tls: milliseconds('for the TLS handshake'),
        firstByte: milliseconds('from then on until the first byte of the response'),
      }),
      'The parts of `durationMs`. A phase is absent if the attempt had none, as on a kept connection, or failed before its end.',
    ),
  ),
  requestHeaders: described(
    v.nullable(v.record(v.string(), v.string())),
    'Headers of the request without its signatures; null for attempts that were made before version 0.2.0.',
  ),
  responseHeaders: described(
    v.nullable(v.record(v.string(), v.string())),
    'First 50 headers of the response, at most 2 KiB, in lower case and without the values of cookies. Null without a response, for a success with an empty body, and when they are no longer stored.',
  ),
  responseBody: described(
    v.nullable(v.string()),
    'First 4 KiB of the response body as text. Null without a response, and when it is no longer stored.',
  ),
  truncated: v.optional(described(v.boolean(), 'Whether `responseBody` is only the start; absent if it is null.')),
});
export type AttemptDetail = v.InferOutput<typeof AttemptDetail>;

/** A delivery with its attempts. */
export const Delivery = v.object({
  deliveryId: DeliveryId,
  eventId: v.optional(described(EventId, 'Absent for a test event.')),
  event: EventName,
  test: v.optional(described(v.boolean(), 'True for a test event; absent otherwise.')),
  state: described(
    DeliveryState,
    '`pending`: the first attempt or a redelivery is due. `retrying`: a retry is due. `delivered`: an attempt succeeded. `exhausted`: all attempts failed. `skipped`: the webhook was paused at the time of the event.',
  ),
  nextAttemptAt: v.optional(
    described(Timestamp, 'When the next attempt is due; absent if there is none. It may be running.'),
  ),
  body: described(
    v.nullable(v.string()),
    'Body of the last attempt, exactly as it was signed. Null before the first attempt, and when it is no longer stored.',
  ),
  attempts: described(
    v.array(AttemptDetail),
    'The attempts of the last 90 days, the first one first; with many redeliveries only the last 100.',
  ),
});
export type Delivery = v.InferOutput<typeof Delivery>;

/** The data that `redeliverDelivery` returns. */
export const Redelivery = v.object({
  deliveryId: DeliveryId,
  state: described(oneOf(['pending']), 'The state of the delivery: its new attempt is due.'),
  attempt: described(count, 'The number of the new attempt.'),
});
export type Redelivery = v.InferOutput<typeof Redelivery>;

/** The maximum and the default of `overlapSeconds`: a week, and a day. */
const overlapLimitSeconds = 604_800;
const defaultOverlapSeconds = 86_400;

/** The body of `rotateWebhookSecret`. */
export const SecretRotation = v.object({
  secret: described(
    secret,
    'The new shared secret for signing deliveries. After `whsec_` it must be standard, padded base64. No response contains the secret.',
  ),
  overlapSeconds: v.optional(
    described(
      v.pipe(
        v.number('must be a number'),
        v.integer('must be a whole number'),
        v.minValue(0, 'must be at least 0'),
        v.maxValue(overlapLimitSeconds, `must be at most ${grouped(overlapLimitSeconds)}`),
      ),
      'How long deliveries are also signed with the replaced secret. With 0 it ends at once.',
    ),
    defaultOverlapSeconds,
  ),
});
export type SecretRotation = v.InferOutput<typeof SecretRotation>;

/** The data that `rotateWebhookSecret` returns: the webhook, and the end of its replaced secret. */
export const SecretRotated = v.object({
  ...Webhook.entries,
  previousSecretEndsAt: v.optional(
    described(
      Timestamp,
      'When deliveries stop being signed with the replaced secret; absent if the webhook had no secret.',
    ),
  ),
});
export type SecretRotated = v.InferOutput<typeof SecretRotated>;

const exampleWebhook = {
  id: examples.webhookId,
  url: 'https://example.com/hooks/crewboard',
  events: ['task.completed', 'agent.failed'],
  active: true,
  createdAt: examples.hired,
} as const;
const readWebhook = { ...exampleWebhook, signed: true, secretChangedAt: exampleWebhook.createdAt };

const exampleBody = () =>
  JSON.stringify({
    event: 'agent.failed',
    deliveryId: examples.deliveryId,
    timestamp: examples.ended,
    data: {
      execution: {
        id: examples.executionId,
        agentName: examples.agentName,
        status: 'failed',
        error: 'The model did not answer.',
      },
      occurredAt: examples.ended,
    },
  });

const movedUrl = 'https://example.com/hooks/crewboard-2';

export const registerWebhook = endpoint({
  method: 'POST',
  path: '/api/webhooks/register',
  scope: 'webhooks:write',
  summary: 'Register a webhook',
  body: NewWebhook,
  status: 201,
  resource: Webhook,
  data: WebhookRegistered,
  secrets: 'encrypts',
  errors: ['url_not_allowed', 'limit_reached'],
});

export const registerWebhookReference = (): ApiReference<typeof registerWebhook> => ({
  description:
    'Registers a webhook. It receives its subscribed events for every change after the response. The URL is checked again at each attempt: its host name must resolve to public addresses. `taskFilter` limits them to the events of some tasks. All fields but the secret can be changed later; the secret can be rotated. An organization can have at most 100 webhooks.',
  body: {
    url: exampleWebhook.url,
    events: exampleWebhook.events,
    secret: 'a long random text that both sides know',
  },
  data: exampleWebhook,
});

export const listWebhooks = endpoint({
  method: 'GET',
  path: '/api/webhooks',
  scope: 'webhooks:read',
  summary: 'List webhooks',
  query: v.object({
    include: v.optional(
      described(
        oneOf(['health']),
        'Add `lastSuccessAt`, `lastFailureAt` and `failingSince` to the webhooks. It takes a read of the newest 100 attempts to each.',
      ),
    ),
  }),
  status: 200,
  data: v.array(Webhook),
});

export const listWebhooksReference = (): ApiReference<typeof listWebhooks> => ({
  description: 'Returns all webhooks, newest first, without their secrets. The list is not paged.',
  data: [{ ...readWebhook, lastDeliveryAt: examples.ended }],
});

/** The paths of `registerWebhook` and `listEvents`, which also match the path of a webhook; no webhook has such an id. */
const fixedBeside = { register: 'POST', events: 'GET' } as const;

export const getWebhook = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id',
  scope: 'webhooks:read',
  summary: 'Get a webhook',
  fixedBeside: { register: 'POST' },
  params: { id: WebhookId },
  query: v.object({
    include: v.optional(
      described(
        oneOf(['hours']),
        'Add `hours` to the webhook. It reads the attempts since the service last stored their numbers, which it does after about 256 deliveries.',
      ),
    ),
  }),
  status: 200,
  data: WebhookDetail,
  versioned: true,
});

export const getWebhookReference = (): ApiReference<typeof getWebhook> => ({
  description:
    'Returns the webhook without its secret. The `ETag` changes when the webhook is updated, not with each delivery. After five days in which all deliveries have failed, ten of them permanently, the service pauses the webhook, and `disabledReason` is `failing`. With `include=hours`, `hours` has the number of attempts in each of the last 24 hours, by the status of the response. An attempt counts in the hour in which it was due; if it began more than a minute late, in the hour in which it began.',
  params: { id: examples.webhookId },
  data: { ...readWebhook, lastDeliveryAt: examples.ended, lastSuccessAt: examples.ended },
});

export const updateWebhook = endpoint({
  method: 'PATCH',
  path: '/api/webhooks/:id',
  scope: 'webhooks:write',
  summary: 'Update a webhook',
  fixedBeside,
  params: { id: WebhookId },
  body: WebhookPatch,
  setElsewhere: { secret: 'use POST /api/webhooks/:id/rotate-secret' },
  status: 200,
  data: Webhook,
  versioned: true,
  errors: ['url_not_allowed', 'limit_reached'],
});

export const updateWebhookReference = (): ApiReference<typeof updateWebhook> => ({
  description:
    'Changes only the fields in the request. `null` clears `description`, `taskFilter` or `maxPerSecond`. The rules for `url` are those of a registration. A new `url` gets all further attempts, also the waiting retries of earlier events; attempts that have already begun, for up to 30 seconds, go to the old one. `events` replaces all subscribed events. The webhook receives a new one for every change after the response, and none for earlier changes. A removed event is not sent for changes that are not yet published; deliveries that are already published, and their retries, are still sent. `taskFilter` replaces the whole filter, for every change after the response; an event is compared with the filter that the webhook had at the time of the event. `maxPerSecond` applies to all attempts that begin after the response, also to waiting ones. The history and the secret stay; to replace the secret, rotate it.\n\n`active: false` pauses the webhook. Until `active: true` resumes it, nothing is sent, except test events and attempts that have already begun, for up to 30 seconds. Events of a pause are skipped: the webhook never receives them. Retries and redeliveries that are due in a pause, and first attempts that are late, wait for its end and are sent right after it. A webhook can be paused 50 times in 90 days. `active: true` also resumes a webhook that the service has paused because it failed. A pause publishes `webhook.paused`.',
  params: { id: examples.webhookId },
  body: { url: movedUrl, events: exampleWebhook.events },
  furtherBodies: {
    'Only the tasks of a project': { taskFilter: { projectId: examples.projectId } },
    'At most five attempts a second': { maxPerSecond: 5 },
    'Clear the description': { description: null },
    'Pause the webhook': { active: false },
  },
  data: { ...readWebhook, url: movedUrl, lastDeliveryAt: examples.ended },
});

export const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/api/webhooks/:id',
  scope: 'webhooks:write',
  summary: 'Delete a webhook',
  fixedBeside,
  params: { id: WebhookId },
  status: 200,
  versioned: true,
});

export const deleteWebhookReference = (): ApiReference<typeof deleteWebhook> => ({
  description: 'Deletes the webhook. Its scheduled retries are not sent.',
  params: { id: examples.webhookId },
});

export const rotateWebhookSecret = endpoint({
  method: 'POST',
  path: '/api/webhooks/:id/rotate-secret',
  scope: 'webhooks:write',
  summary: 'Rotate the secret of a webhook',
  params: { id: WebhookId },
  body: SecretRotation,
  status: 200,
  data: SecretRotated,
  secrets: 'encrypts',
});

export const rotateWebhookSecretReference = (): ApiReference<typeof rotateWebhookSecret> => ({
  description:
    'Replaces the secret of the webhook; a webhook without a secret gets its first one. During the overlap, deliveries have two signatures: `X-Service-Signature` that of the new secret, `X-Service-Signature-Previous` that of the replaced one, and `webhook-signature` both. A rotation during an overlap ends the secret before the replaced one at once. Send an Idempotency-Key: a request that is repeated without one is another rotation, which replaces the new secret by itself. Attempts that have already begun, for up to 30 seconds, are signed as before the rotation.',
  params: { id: examples.webhookId },
  body: { secret: 'another long random text that both sides know', overlapSeconds: defaultOverlapSeconds },
  data: { ...readWebhook, lastDeliveryAt: examples.ended, previousSecretEndsAt: examples.overlapEnd },
});

export const testWebhook = endpoint({
  method: 'POST',
  path: '/api/webhooks/:id/test',
  scope: 'webhooks:write',
  summary: 'Send a test event',
  params: { id: WebhookId },
  body: TestEvent,
  status: 200,
  data: TestResult,
  callsOut: true,
  secrets: 'decrypts',
});

export const testWebhookReference = (): ApiReference<typeof testWebhook> => ({
  description:
    'Sends a synthetic event once, signed and recorded like any other delivery, but never retried. It is also sent to a paused webhook. If it succeeds, a webhook that the service has paused because it failed is resumed, and `webhook.recovered` is published if the webhook was failing. The status of the response is 200 whatever the receiver responds: `httpStatus` is the status of the receiver, 0 if it did not respond, and `error` says why the attempt failed. Takes at most 10 seconds.',
  params: { id: examples.webhookId },
  body: { event: 'task.completed' },
  data: { deliveryId: examples.deliveryId, httpStatus: 204, responseBody: '', durationMs: 87 },
});

export const listDeliveries = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/deliveries',
  scope: 'webhooks:read',
  summary: 'List deliveries',
  params: { id: WebhookId },
  query: DeliveryQuery,
  status: 200,
  data: DeliveryRecord,
  paged: true,
  errors: ['range_too_large'],
});

export const listDeliveriesReference = (): ApiReference<typeof listDeliveries> => ({
  description:
    'Returns the delivery attempts of the webhook, newest first by the time when they were due. An attempt that began a minute or more after that has the place of the time when it began. For the events of the webhook, each once with the state of its delivery, use `GET /api/webhooks/:id/events`. Attempts are stored for 90 days. `redelivery` is true for a retry and for a redelivery.\n\nAn attempt must match all filters. A filtered list reads at most 10,000 attempts, whether they match or not, and `pagination.total` is the exact number of those that match. Without `since` it covers the newest 10,000 attempts, or the newest 10,000 up to `until`. With `since` it covers the whole range. If the range has more than 10,000 attempts, the response is 422 `range_too_large`, and `details` names a later `since`. Attempts that ended up to two minutes outside the range can count too. Without filters, the list has all attempts and their exact number.',
  params: { id: examples.webhookId },
  data: [
    {
      id: examples.deliveryId,
      deliveryId: examples.deliveryId,
      attempt: 1,
      event: 'task.completed',
      httpStatus: 503,
      durationMs: 112,
      deliveredAt: examples.ended,
      redelivery: false,
      error: 'The receiver answered 503.',
    },
  ],
});

export const getDelivery = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/deliveries/:deliveryId',
  scope: 'webhooks:read',
  summary: 'Get a delivery',
  params: { id: WebhookId, deliveryId: DeliveryId },
  status: 200,
  data: Delivery,
  servedBy: 'listDeliveries',
});

export const getDeliveryReference = (): ApiReference<typeof getDelivery> => ({
  description:
    'Returns the state of a delivery of the last 90 days, and what was sent and received in each attempt. Bodies and responses are kept for 7 days, unless the operator has set another number; after that they are null. `deliveryId` must be the `deliveryId` of an attempt, not the `id` of a retry. The response body is what the receiver sent: treat it as untrusted text.',
  params: { id: examples.webhookId, deliveryId: examples.deliveryId },
  data: {
    deliveryId: examples.deliveryId,
    eventId: examples.eventId,
    event: 'agent.failed',
    state: 'retrying',
    nextAttemptAt: examples.retried,
    body: exampleBody(),
    attempts: [
      {
        id: examples.deliveryId,
        deliveryId: examples.deliveryId,
        attempt: 1,
        event: 'agent.failed',
        httpStatus: 503,
        durationMs: 112,
        deliveredAt: examples.ended,
        redelivery: false,
        error: 'The receiver answered 503.',
        address: '192.0.2.7',
        phases: { dns: 9, connect: 21, tls: 44, firstByte: 37 },
        requestHeaders: {
          Host: 'example.com',
          'Content-Type': 'application/json',
          'User-Agent': 'Crewboard-Webhooks/1',
          'X-Service-Event': 'agent.failed',
          'X-Service-Delivery': examples.deliveryId,
          'X-Service-Timestamp': '1794648642',
          Accept: '*/*',
          'Accept-Encoding': 'identity',
          'Content-Length': String(exampleBody().length),
          Connection: 'close',
        },
        responseHeaders: { 'content-type': 'text/plain', 'retry-after': '120' },
        responseBody: 'Down for maintenance',
        truncated: false,
      },
    ],
  },
});

export const redeliverDelivery = endpoint({
  method: 'POST',
  path: '/api/webhooks/:id/deliveries/:deliveryId/redeliver',
  scope: 'webhooks:write',
  summary: 'Redeliver a delivery',
  params: { id: WebhookId, deliveryId: DeliveryId },
  status: 200,
  data: Redelivery,
  errors: ['webhook_paused', 'delivery_in_progress'],
});

export const redeliverDeliveryReference = (): ApiReference<typeof redeliverDelivery> => ({
  description:
    'Sends a delivery of the last 90 days again, whether it succeeded or failed, or a failed one before its next retry. The attempt begins within two seconds after the response, unless the rate of the webhook holds it back. It has the same `deliveryId`, event and data, the next attempt number, and `redelivery: true` in the list of deliveries.\n\nA redelivery of a delivery that has ended is one attempt, and is not retried if it fails. One of a delivery that is `retrying` takes the place of the next retry, and the retry schedule begins again: it costs no retry. It is possible if the next retry is more than 15 seconds away and the last attempt ended more than 30 seconds ago. A delivery that still has no attempt two minutes after the event gets its first attempt, which is retried as usual.\n\nOtherwise, while an attempt is due or running, the response is 409 `delivery_in_progress`, and `Retry-After` has the seconds after which the request can succeed; while the webhook is paused, it is 409 `webhook_paused`. `deliveryId` must be the `deliveryId` of an attempt, not the `id` of a retry. A test event, an event that the webhook skipped, and an event that is no longer stored, lead to 404. Send an Idempotency-Key: a request that is repeated without one can be another redelivery.',
  params: { id: examples.webhookId, deliveryId: examples.deliveryId },
  data: { deliveryId: examples.deliveryId, state: 'pending', attempt: 3 },
});
