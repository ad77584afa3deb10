import { timeOf, ulidOf } from '../../contract/ids.ts';
import { maxFilteredAttempts } from '../../contract/webhooks/webhooks.ts';
import type { BatchingContext } from '../access/batchers.ts';
import { keys } from '../access/keys.ts';
import { filterItems, getItem } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import type { EventToSend } from '../events/event-log.ts';
import { everything } from '../lists/listing.ts';
import { attemptFacet, timeLetters } from './attempt-items.ts';
import { readAttemptsFrom } from './attempt-log.ts';
import type { DeliveryAttempts } from './delivery-state.ts';
import { oldMessageOf } from './old-deliveries.ts';
import type { DeliveryOfWebhook } from './redeliveries.ts';

/** How long before the time of its delivery id an earlier version placed the attempt of a test event, at most, in ms. */
const testBeforeMs = 1_000;

/** How long after its delivery id the attempts of a delivery of the version before the attempt log ended, at most, in ms. */
const oldAttemptsMs = 4 * 24 * 60 * 60_000;

/** Old attempts, and the event of a delivery of the version before the attempt log, which stored it with the delivery. */
type OldAttempts = DeliveryAttempts & { source?: EventToSend | undefined };

/**
 * Returns the attempts of a delivery that earlier versions made at other places in the log: attempts of the version before the
 * attempt log, also if this version has continued them, and test events, which had a place some milliseconds before the
 * time of their id. There are no rows if the delivery is not found.
 */
export async function readOldAttempts(
  context: BatchingContext,
  { organization, webhookId, deliveryId }: DeliveryOfWebhook,
): Promise<OldAttempts> {
  const [webhook, ulid] = [ulidOf(webhookId), ulidOf(deliveryId)];
  const time = timeOf(ulid);
  const [old, tests, item] = await Promise.all([
    rowsOf(everything, time + oldAttemptsMs),
    rowsOf(attemptFacet, time),
    getItem(context.table, keys.oldDelivery(organization, webhook, ulid)),
  ]);
  const message = item && oldMessageOf(item);
  const { rows, next } = message ? await readAttemptsFrom(context, message) : { rows: tests };
  return { rows: [...old, ...rows], ...(next && { next }), requested: false, source: item as EventToSend | undefined };

  async function rowsOf(facet: string, to: number): Promise<Item[]> {
    const { rows: pk } = keys.attemptScope(organization, webhook);
    const [first, last] = [timeLetters(Math.max(time - testBeforeMs, 0)), timeLetters(to)];
    const range = { pk, from: `${facet}#${first}`, to: `${facet}#${last}~`, limit: maxFilteredAttempts };
    const filter = { expression: '#id = :id', names: { '#id': 'deliveryId' }, values: { ':id': deliveryId } };
    return (await filterItems(context.table, range, filter)).items.toReversed();
  }
}
