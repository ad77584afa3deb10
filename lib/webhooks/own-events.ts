import { timestamp } from '../contract/ids.ts';
import { type WebhookEvent, webhookEventRows } from '../contract/webhooks/events.ts';
import type { OwnEvent } from '../table/webhooks/own-events.ts';
import { openPauseOf } from '../table/webhooks/pauses.ts';
import type { StoredWebhook } from '../table/webhooks/webhooks.ts';

const names = Object.keys(webhookEventRows) as WebhookEvent['event'][];

/**
 * Creates an event about a webhook.
 *
 * @param webhook the webhook after the change
 * @param failingSince the end of the first failed attempt after which all have failed, or had until now (ISO 8601);
 *   `undefined` if there is none
 * @param at the time of the change (Unix time, in ms)
 * @param notRecovered how many missed events are not recovered by the service
 */
export function createOwnEvent(
  event: WebhookEvent['event'],
  webhook: StoredWebhook,
  failingSince: string | undefined,
  at: number,
  notRecovered = 0,
): WebhookEvent {
  const { id, url, description } = webhook;
  const pause = openPauseOf(webhook);
  const data = {
    webhook: {
      id,
      host: URL.parse(url)?.host ?? '',
      ...(description !== undefined && { description }),
      active: pause === undefined,
      ...(failingSince !== undefined && { failingSince }),
      ...(pause?.reason && { disabledReason: pause.reason }),
    },
    ...(notRecovered > 0 && { notRecovered }),
    occurredAt: timestamp(at),
  };
  return { event, data };
}

/** Returns the public events of a change of the item with the latest event about a webhook (docs/architecture.md#events). */
export function webhookEvents(before: OwnEvent | undefined, after: OwnEvent | undefined): WebhookEvent[] {
  if (after === undefined) return [];
  return names
    .filter((name) => webhookEventRows[name].comesFrom(before, after))
    .map((event) => ({ event, data: after.data }));
}
