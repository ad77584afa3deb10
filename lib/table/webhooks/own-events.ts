import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { WebhookEvent } from '../../contract/webhooks/events.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { TableContext } from '../access/client.ts';
import { requestFields } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { Conflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { historyExpiry } from '../lists/history-days.ts';
import { lastResume, type Pausable } from './pauses.ts';

/**
 * The events about a webhook. Each is written once: the transaction that changes the webhook counts it there, and puts an
 * item with the event, which the stream publishes. The item of the webhook itself is not published: its leases and booked
 * times are written at every attempt of some webhooks.
 */

/** What the events about a webhook have said: how many there were, and since when it fails, if that has not ended. */
export type OwnEvents = {
  count: number;
  /** The end of the first failed attempt, as `webhook.failing` has said it; ISO 8601. Absent from `webhook.recovered` on. */
  failingSince?: string;
};

/** The part of a webhook's item that has this. A webhook without events has none. */
export type OwnEventsHolder = { ownEvents?: OwnEvents | undefined };

/** The kind of the items with events about webhooks, by which the stream filter selects them. */
export const ownEventKind = 'webhook-event';

/** An event about a webhook as its item has it: the `number` is its place among the events about the webhook. */
export type OwnEvent = WebhookEvent & { webhookId: string; number: number };

/** Returns the attribute of a webhook's item with what its events have said. */
export function ownEventsOf({ ownEvents }: Item): OwnEventsHolder {
  return ownEvents === undefined ? {} : { ownEvents: ownEvents as OwnEvents };
}

/**
 * Returns since when a webhook fails, as `webhook.failing` has said it (ISO 8601); `undefined` if it has not, if an attempt has
 * succeeded since, and after the webhook was resumed.
 */
export function announcedFailure(webhook: OwnEventsHolder & Pausable): string | undefined {
  const since = webhook.ownEvents?.failingSince;
  return since !== undefined && Date.parse(since) >= lastResume(webhook) ? since : undefined;
}

/** Returns what the events about a webhook have said after one more. A pause by the service says that the webhook fails. */
function withEvent(before: OwnEvents | undefined, { event, data }: WebhookEvent): OwnEvents {
  const failingSince = {
    'webhook.failing': data.webhook.failingSince,
    'webhook.recovered': undefined,
    'webhook.paused': before?.failingSince ?? (data.webhook.disabledReason && data.webhook.failingSince),
  }[event];
  return { count: (before?.count ?? 0) + 1, ...(failingSince !== undefined && { failingSince }) };
}

/**
 * Returns the parts of a transaction that announces an event about a webhook: the attribute of the webhook's item, the
 * condition that no other event was announced since the webhook was read, and the write of the event's item.
 */
export function announcement(
  organization: Organization,
  { id, ownEvents }: OwnEventsHolder & { id: string },
  event: WebhookEvent,
) {
  const after = withEvent(ownEvents, event);
  const condition = {
    ConditionExpression: ownEvents ? '#ownEvents = :ownEventsBefore' : 'attribute_not_exists(#ownEvents)',
    ExpressionAttributeNames: { '#ownEvents': 'ownEvents' },
    ExpressionAttributeValues: { ...(ownEvents && { ':ownEventsBefore': ownEvents }) },
  };
  const item = {
    ...keys.ownEvent(organization, ulidOf(id)),
    kind: ownEventKind,
    ...event,
    number: after.count,
    ...requestFields(),
    [tableSchema.expiry]: historyExpiry(Date.parse(event.data.occurredAt)),
  };
  return { after, condition, write: { Put: { Item: item } } satisfies Write };
}

/**
 * Announces an event about a webhook that changes nothing else of it.
 *
 * @param further writes of the same transaction
 * @throws `Conflict` if another event was announced since the webhook was read, or it was deleted
 */
export async function announce(
  { table }: TableContext,
  organization: Organization,
  webhook: OwnEventsHolder & { id: string },
  event: WebhookEvent,
  further: readonly Write[] = [],
): Promise<void> {
  const { after, condition, write } = announcement(organization, webhook, event);
  const update: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(webhook.id)),
      UpdateExpression: 'SET #ownEvents = :ownEvents',
      ConditionExpression: `attribute_exists(pk) AND ${condition.ConditionExpression}`,
      ExpressionAttributeNames: condition.ExpressionAttributeNames,
      ExpressionAttributeValues: { ...condition.ExpressionAttributeValues, ':ownEvents': after },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [update, write, ...further]);
}

/** Returns the event of an item. */
export function ownEventFrom({ sk, event, data, number }: Item): OwnEvent {
  return { webhookId: `wh_${sk}`, event, data, number } as OwnEvent;
}
