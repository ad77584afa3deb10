import type * as rows from '../../contract/webhooks.ts';
import type { ReferenceOf } from './row.ts';
import { story } from './story.ts';

const registered = {
  id: story.webhookId,
  url: 'https://example.com/hooks/crewboard',
  events: ['task.completed', 'agent.failed'],
  active: true,
  createdAt: story.hired,
} as const;

const webhook = { ...registered, lastDeliveryAt: story.ended };

/** The words and examples for the rows of webhooks. What receivers get is under the document's `webhooks`. */
export const webhooks = {
  registerWebhook: {
    description:
      'It hears every change that comes after the answer. The URL is checked again at each attempt: names must lead to public addresses. To change a URL or a secret, register anew and delete the old one. At most 100 an organization.',
    body: { url: registered.url, events: registered.events, secret: 'a long random text that both sides know' },
    data: registered,
  },
  listWebhooks: { description: 'All of them; the list is not paged. The secret is in no answer.', data: [webhook] },
  getWebhook: { description: 'The secret is in no answer.', data: webhook },
  deleteWebhook: { description: 'What waits for a retry is not sent any more.' },
  testWebhook: {
    description:
      "Signed and sent as any delivery is, and recorded in the history, but never retried. Answers 200 with what the receiver said, whatever it was: `httpStatus` is the receiver's, 0 when none came, and `error` says why an attempt failed. Takes 10 seconds at most.",
    body: { event: 'task.completed' },
    data: { deliveryId: story.deliveryId, httpStatus: 204, responseBody: '', durationMs: 87 },
  },
  listDeliveries: {
    description: 'Newest first by the end of the attempt; kept for 90 days. A retry has `redelivery` true.',
    data: [
      {
        id: story.deliveryId,
        deliveryId: story.deliveryId,
        attempt: 1,
        event: 'task.completed',
        httpStatus: 503,
        durationMs: 112,
        deliveredAt: story.ended,
        redelivery: false,
        error: 'The receiver answered 503.',
      },
    ],
  },
} as const satisfies ReferenceOf<typeof rows>;
