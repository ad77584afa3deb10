import { timeOf, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { type BatchingContext, readInBatch } from '../access/batchers.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import { attemptFacet, attemptKey, retryOf, timeLetters } from '../deliveries/attempt-items.ts';
import { placeOf } from '../deliveries/attempt-log.ts';
import { attemptsOf, type DeliveryAttempts } from '../deliveries/delivery-state.ts';

/**
 * Reads the attempts of many deliveries of one webhook. The rows of neighbouring deliveries are neighbours in the attempt
 * log, so queries of whole ranges read them. Only rows that are further away are read one by one.
 */

/** The part of the attempt log of a webhook that was read: rows, late starts and redeliveries. */
export type DeliveryRows = {
  /** The rows by their sort keys, and the times between which they are complete, as the letters of ULIDs. */
  rows: ReadonlyMap<string, Item>;
  rowsFrom: string;
  rowsTo: string;
  /** The times at which late attempts began, by sort keys; ISO 8601. */
  lateStarts: ReadonlyMap<string, string>;
  /** The items of redeliveries, by the ULIDs of the deliveries, the first one first. */
  redeliveries: ReadonlyMap<string, Item[]>;
};

/** The attempts of a delivery, and the items of its redeliveries. */
export type FoundDelivery = DeliveryAttempts & { redeliveries: Item[] };

/** The attributes that decide the state of a delivery, and the attributes that `retryOf` reads. */
const stateAttributes = [
  'pk',
  'deliveryId',
  'eventId',
  'attempt',
  'error',
  'deliveredAt',
  'nextAttemptAt',
  'requested',
  'scheduleStart',
];

/** The maximum number of rows that one call reads in advance: about 5,000 read units. */
const mostRows = 50_000;

/**
 * Reads the part of a webhook's attempt log with the deliveries of a time range (Unix times in ms, both included), strongly
 * consistent.
 *
 * @param aheadMs how long after the range the rows of retries are read in advance, in milliseconds
 * @param limit the maximum number of rows that are read in advance
 * @param also further attributes of rows, beside the attributes that the state of a delivery needs
 */
export async function readDeliveryRows(
  { table }: BatchingContext,
  organization: Organization,
  webhookId: string,
  {
    from,
    to,
    aheadMs = 0,
    limit = mostRows,
    also = [],
  }: { from: number; to: number; aheadMs?: number; limit?: number; also?: readonly string[] },
): Promise<DeliveryRows> {
  const pk = keys.attemptScope(organization, ulidOf(webhookId)).rows;
  const [first, last] = [timeLetters(from), timeLetters(to)];
  const ahead = timeLetters(to + aheadMs);
  const ends = { from: `${attemptFacet}#${first}`, to: `${attemptFacet}#${ahead}~` };
  const only = [...stateAttributes, ...also];
  const [attempts, starts, items] = await Promise.all([
    readRange(table, { pk, ...ends, only, ascending: true, limit }),
    readRange(table, { pk, from: `L#${first}`, to: `L#${last}~` }),
    readRange(table, { pk, from: `R#${first}`, to: `R#${last}~`, ascending: true }),
  ]);
  const rows = new Map(attempts.map((row) => [row.sk as string, row]));
  // If there were too many rows, the rows of the last time may be incomplete.
  const lastRow = attempts.length === limit ? (attempts.at(-1)?.sk as string) : undefined;
  const rowsTo = lastRow ? timeLetters(timeOf(lastRow.slice(attemptFacet.length + 1)) - 1) : ahead;
  const lateStarts = new Map(starts.map(({ sk, at }) => [sk as string, at as string]));
  const redeliveries = Map.groupBy(items, ({ deliveryId }) => ulidOf(deliveryId as string));
  return { rows, rowsFrom: first, rowsTo, lateStarts, redeliveries };
}

/** Returns the attempts of a delivery, from the message of its first attempt. */
export async function readDelivery(
  context: BatchingContext,
  found: DeliveryRows,
  first: DeliveryMessage,
): Promise<FoundDelivery> {
  const redeliveries = found.redeliveries.get(ulidOf(first.deliveryId)) ?? [];
  const starts = [first, ...redeliveries.flatMap((item) => retryOf(item) ?? [])];
  const parts = await Promise.all(starts.map((start) => follow(context, found, start)));
  return { ...attemptsOf(parts), redeliveries };
}

/** Returns the row of an attempt, which may be late; `undefined` if it was not made. */
export async function findRowOf(
  context: BatchingContext,
  found: DeliveryRows,
  message: DeliveryMessage,
): Promise<Item | undefined> {
  const row = await rowAt(context, found, message, message.dueAt);
  if (row) return row;
  const { organization, webhookId, deliveryId, attempt } = message;
  const { sk } = keys.lateAttempt(organization, ulidOf(webhookId), ulidOf(deliveryId), attempt);
  const lateAt = found.lateStarts.get(sk);
  return lateAt === undefined ? undefined : rowAt(context, found, message, lateAt);
}

/** Returns the rows from an attempt on, and the message of the first attempt without a row. */
async function follow(context: BatchingContext, found: DeliveryRows, start: DeliveryMessage) {
  const rows: Item[] = [];
  let next: DeliveryMessage | undefined = start;
  while (next) {
    const row: Item | undefined = await findRowOf(context, found, next);
    if (!row) break;
    rows.push(row);
    next = retryOf(row);
  }
  return { rows, next };
}

async function rowAt(context: BatchingContext, found: DeliveryRows, message: DeliveryMessage, at: string) {
  const key = attemptKey(placeOf(message, at));
  const letters = timeLetters(Date.parse(at));
  // After a step back, an attempt can be from before its event.
  if (letters >= found.rowsFrom && letters <= found.rowsTo) return found.rows.get(key.sk);
  return readInBatch(context, key);
}
