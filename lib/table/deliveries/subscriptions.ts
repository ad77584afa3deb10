import { inBatches } from '../../batching/in-batches.ts';
import type { EventName } from '../../contract/events.ts';
import type { Organization } from '../../contract/organization.ts';
import type { BatchingContext, SubscribedEvent } from '../batchers.ts';
import type { Table } from '../client.ts';
import { keys } from '../keys.ts';
import { queryItems } from '../reads.ts';

/**
 * Returns the ids of the webhooks that are subscribed to an event, strongly consistent. The calls of one turn of the event
 * loop share one read, which begins after all of them: it returns every webhook that was registered before a call.
 */
export function readSubscribers(
  { table, batchers }: BatchingContext,
  organization: Organization,
  event: EventName,
): Promise<string[]> {
  batchers.readSubscribers ??= inBatches(
    Number.POSITIVE_INFINITY,
    (events: SubscribedEvent[]) => Promise.all(events.map((one) => querySubscribers(table, one))),
    (one) => `${one.organization} ${one.event}`,
  );
  return batchers.readSubscribers({ organization, event });
}

async function querySubscribers(table: Table, { organization, event }: SubscribedEvent): Promise<string[]> {
  const items = await Array.fromAsync(queryItems(table, { pk: keys.subscriptions(organization, event) }));
  return items.map((item) => `wh_${item.sk}`);
}
