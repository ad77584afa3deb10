import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import { EventName, eventNames } from './events.ts';
import * as examples from './examples.ts';
import { count, described, id, listOf, pageQuery, Timestamp, text } from './shapes.ts';

export const WebhookId = id('wh', 'a webhook');
export const DeliveryId = id('dlv', 'a delivery, or of an attempt');

/** The body of `registerWebhook`. `lib/webhooks/sender/receivers.ts` decides which of these URLs are allowed. */
export const NewWebhook = v.object({
  url: v.pipe(
    text(1, 2048),
    v.check((url) => URL.canParse(url), 'must be an absolute URL such as https://example.com/hooks'),
    v.metadata({ format: 'uri' }),
    v.description('URL of the receiver: https, port 443 or 8443, a public address, without credentials.'),
  ),
  events: listOf(EventName, { min: 1, max: eventNames.length }),
  secret: v.optional(
    described(
      text(1, 256),
      'Shared secret for signing deliveries. Without a secret, deliveries are not signed. No response contains the secret.',
    ),
  ),
});
export type NewWebhook = v.InferOutput<typeof NewWebhook>;

/** A webhook as reads return it, without its secret. */
export const Webhook = v.object({
  id: WebhookId,
  url: v.string(),
  events: v.array(EventName),
  active: v.boolean(),
  lastDeliveryAt: v.optional(described(Timestamp, 'End of the latest attempt in the last 90 days, successful or not.')),
  createdAt: Timestamp,
});
export type Webhook = v.InferOutput<typeof Webhook>;

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
  redelivery: described(v.boolean(), 'Whether the attempt was a retry.'),
  error,
});
export type DeliveryRecord = v.InferOutput<typeof DeliveryRecord>;

/** The body of `testWebhook`. */
export const TestEvent = v.object({
  event: described(EventName, 'Any of the six events. The webhook does not have to be subscribed to it.'),
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
    'Registers a webhook. It receives its subscribed events for every change after the response. The URL is checked again at each attempt: its host name must resolve to public addresses. To change the URL or the secret, register a new webhook and delete the old one. An organization can have at most 100 webhooks.',
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
  status: 200,
  data: v.array(Webhook),
});

export const listWebhooksReference = (): ApiReference<typeof listWebhooks> => ({
  description: 'Returns all webhooks, newest first, without their secrets. The list is not paged.',
  data: [{ ...exampleWebhook, lastDeliveryAt: examples.ended }],
});

export const getWebhook = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id',
  scope: 'webhooks:read',
  summary: 'Get a webhook',
  params: { id: WebhookId },
  status: 200,
  data: Webhook,
});

export const getWebhookReference = (): ApiReference<typeof getWebhook> => ({
  description: 'Returns the webhook without its secret.',
  data: { ...exampleWebhook, lastDeliveryAt: examples.ended },
});

export const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/api/webhooks/:id',
  scope: 'webhooks:write',
  summary: 'Delete a webhook',
  params: { id: WebhookId },
  status: 200,
});

export const deleteWebhookReference = (): ApiReference<typeof deleteWebhook> => ({
  description: 'Deletes the webhook. Its scheduled retries are not sent.',
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
    'Sends a synthetic event once, signed and recorded like any other delivery, but never retried. The status of the response is 200 whatever the receiver responds: `httpStatus` is the status of the receiver, 0 if it did not respond, and `error` says why the attempt failed. Takes at most 10 seconds.',
  body: { event: 'task.completed' },
  data: { deliveryId: examples.deliveryId, httpStatus: 204, responseBody: '', durationMs: 87 },
});

export const listDeliveries = endpoint({
  method: 'GET',
  path: '/api/webhooks/:id/deliveries',
  scope: 'webhooks:read',
  summary: 'List deliveries',
  params: { id: WebhookId },
  query: v.object(pageQuery),
  status: 200,
  data: DeliveryRecord,
  paged: true,
});

export const listDeliveriesReference = (): ApiReference<typeof listDeliveries> => ({
  description:
    'Returns the delivery attempts of the webhook, newest first by the end of the attempt. Attempts are stored for 90 days. `redelivery` is true for a retry.',
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
