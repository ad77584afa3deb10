import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import { EventName, eventNames } from './events.ts';
import * as examples from './examples.ts';
import { count, described, id, listOf, pageQuery, Timestamp, text } from './shapes.ts';

export const WebhookId = id('wh', 'a webhook');
export const DeliveryId = id('dlv', 'a delivery, or of an attempt');

/** The body of `registerWebhook`. Which URLs may be registered beyond this is decided in `lib/webhooks`. */
export const NewWebhook = v.object({
  url: v.pipe(
    text(1, 2048),
    v.check((url) => URL.canParse(url), 'must be an absolute URL such as https://example.com/hooks'),
    v.metadata({ format: 'uri' }),
    v.description('Where deliveries go: https, port 443 or 8443, a public address, no credentials.'),
  ),
  events: listOf(EventName, { min: 1, max: eventNames.length }),
  secret: v.optional(
    described(
      text(1, 256),
      'Shared secret that deliveries are signed with; without one they are not signed. Never shown.',
    ),
  ),
});
export type NewWebhook = v.InferOutput<typeof NewWebhook>;

/** A webhook as every read shows it: the secret is in none. */
export const Webhook = v.object({
  id: WebhookId,
  url: v.string(),
  events: v.array(EventName),
  active: v.boolean(),
  lastDeliveryAt: v.optional(
    described(Timestamp, 'End of the newest attempt of the last 90 days, whatever came of it.'),
  ),
  createdAt: Timestamp,
});
export type Webhook = v.InferOutput<typeof Webhook>;

/** The answer to a registration: these five fields only, as specified. */
export const WebhookRegistered = v.pick(Webhook, ['id', 'url', 'events', 'active', 'createdAt']);

const httpStatus = described(count, "The receiver's status; 0 when no answer came.");
const error = v.optional(described(v.string(), 'Why the attempt failed; absent where it did not.'));

/** One attempt of a delivery. Its id is its own; the first attempt's equals `deliveryId`. */
export const DeliveryRecord = v.object({
  id: described(DeliveryId, "Of this attempt; the first one's equals deliveryId."),
  deliveryId: described(DeliveryId, 'Of the delivery, as X-Service-Delivery has it: the same for all its attempts.'),
  attempt: described(v.pipe(count, v.minValue(1)), 'Which attempt it was, from 1.'),
  event: EventName,
  httpStatus,
  durationMs: count,
  deliveredAt: described(Timestamp, 'The end of the attempt.'),
  redelivery: described(v.boolean(), 'Whether it was a retry.'),
  error,
});
export type DeliveryRecord = v.InferOutput<typeof DeliveryRecord>;

/** The body of `testWebhook`: any of the six events, whether the webhook hears it or not. */
export const TestEvent = v.object({
  event: described(EventName, 'Any of the six, whether the webhook hears it or not.'),
});

/** How a test delivery ended. */
export const TestResult = v.object({
  deliveryId: DeliveryId,
  httpStatus,
  responseBody: described(v.string(), "The first 16 KiB of the receiver's answer; empty when none came."),
  durationMs: count,
  error,
});
export type TestResult = v.InferOutput<typeof TestResult>;

const exampleWebhook = {
  id: examples.webhookId,
  url: 'https://example.com/hooks/crewboard',
  events: ['task.completed', 'agent.failed'],
  active: true,
  createdAt: examples.hired,
} as const;

export const registerWebhook = endpoint({
  method: 'POST',
  path: '/api/webhooks/register',
  scope: 'webhooks:write',
  summary: 'Register a URL that hears events',
  body: NewWebhook,
  status: 201,
  resource: Webhook,
  data: WebhookRegistered,
  secrets: 'seals',
  errors: ['url_not_allowed', 'limit_reached'],
});

export const registerWebhookReference = (): ApiReference<typeof registerWebhook> => ({
  description:
    'It hears every change that comes after the answer. The URL is checked again at each attempt: names must lead to public addresses. To change a URL or a secret, register anew and delete the old one. At most 100 an organization.',
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
  summary: 'List the webhooks, newest first',
  status: 200,
  data: v.array(Webhook),
});

export const listWebhooksReference = (): ApiReference<typeof listWebhooks> => ({
  description: 'All of them; the list is not paged. The secret is in no answer.',
  data: [{ ...exampleWebhook, lastDeliveryAt: examples.ended }],
});

export const getWebhook = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id',
  scope: 'webhooks:read',
  summary: 'Read a webhook',
  params: { id: WebhookId },
  status: 200,
  data: Webhook,
});

export const getWebhookReference = (): ApiReference<typeof getWebhook> => ({
  description: 'The secret is in no answer.',
  data: { ...exampleWebhook, lastDeliveryAt: examples.ended },
});

export const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/api/webhooks/:id',
  scope: 'webhooks:write',
  summary: 'Delete a webhook: it gets nothing more',
  params: { id: WebhookId },
  status: 200,
});

export const deleteWebhookReference = (): ApiReference<typeof deleteWebhook> => ({
  description: 'What waits for a retry is not sent any more.',
});

export const testWebhook = endpoint({
  method: 'POST',
  path: '/api/webhooks/:id/test',
  scope: 'webhooks:write',
  summary: 'Send a made-up event to a webhook now, once',
  params: { id: WebhookId },
  body: TestEvent,
  status: 200,
  data: TestResult,
  callsOut: true,
  secrets: 'opens',
});

export const testWebhookReference = (): ApiReference<typeof testWebhook> => ({
  description:
    "Signed and sent as any delivery is, and recorded in the history, but never retried. Answers 200 with what the receiver said, whatever it was: `httpStatus` is the receiver's, 0 when none came, and `error` says why an attempt failed. Takes 10 seconds at most.",
  body: { event: 'task.completed' },
  data: { deliveryId: examples.deliveryId, httpStatus: 204, responseBody: '', durationMs: 87 },
});

export const listDeliveries = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/deliveries',
  scope: 'webhooks:read',
  summary: 'List the attempts of a webhook, newest first',
  params: { id: WebhookId },
  query: v.object(pageQuery),
  status: 200,
  data: DeliveryRecord,
  paged: true,
});

export const listDeliveriesReference = (): ApiReference<typeof listDeliveries> => ({
  description: 'Newest first by the end of the attempt; kept for 90 days. A retry has `redelivery` true.',
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
