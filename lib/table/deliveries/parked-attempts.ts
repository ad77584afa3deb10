import { inOrder } from '../../aws/in-order.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type BatchingContext, putInBatch, readInBatch } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { type Key, keys, organizationOf, webhookOf } from '../access/keys.ts';
import { queryItems } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact, transactIfFirst } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { parkedPartition, parkedPartitions } from '../lists/delivery-partitions.ts';
import { dueEntry } from '../lists/due.ts';
import { historyExpiry } from '../lists/history-days.ts';
import { redeliveryKind } from './attempt-items.ts';

/**
 * A parked attempt is one that waits as an item: because its webhook was paused when it came due, because it has booked a time,
 * because it has waited long for a lease, or because its message was lost. The parked attempts of a webhook are in four partitions
 * of their own: DynamoDB takes a limited number of writes in each partition, and the attempt log needs the writes of its own.
 *
 * Version 0.2.0 has stored them in the partition of the attempt log. These are found, listed and sent like others, and move when
 * they are parked again.
 *
 * While the webhook stays paused, the sweeper's index does not list the item, so that it costs nothing. The end of the pause
 * writes a release, which is due at once: the sweeper lists all parked attempts in its index and sends their messages. An
 * attempt with a booked time is listed for that time, and one that waits for a lease for a time after its next tries. The item
 * stays until the attempt is made, or never will be made. So no message is needed to remember it.
 */
export type ParkedAttempt = {
  key: Key;
  /** The message, with the time that the attempt has booked. */
  message: DeliveryMessage;
  /** The start of the pause; ISO 8601. Absent if no pause has parked the attempt. */
  pausedFrom?: string | undefined;
  /** The time up to which tries to get a lease are expected; ISO 8601. Absent if it does not wait for a lease. */
  waitsUntil?: string | undefined;
  /** Whether the sweeper's index lists it: not while it waits for the end of a pause. */
  listed: boolean;
};

/** The fields of a message that its parked attempt stores under the same names. */
type ParkedFields = Pick<
  DeliveryMessage,
  'deliveryId' | 'eventId' | 'attempt' | 'listedBy' | 'redelivery' | 'scheduleStart' | 'recovery' | 'requestId'
>;

/**
 * A time that an attempt has booked (ISO 8601), and the version of its webhook's pace in which it has booked it, which is
 * absent before the first change of the pace.
 */
export type Booking = { bookedAt: string; paceVersion?: number | undefined };

/** The item of a parked attempt. */
type ParkedItem = Key &
  ParkedFields &
  Partial<Booking> & { nextAttemptAt: string; pausedFrom?: string; waitsUntil?: string; due?: string };

/** Returns the parked fields of a message or of an item, without the fields that it does not have. */
function parkedFieldsOf(from: ParkedFields): ParkedFields {
  const { deliveryId, eventId, attempt, listedBy, redelivery, scheduleStart, recovery, requestId } = from;
  return {
    deliveryId,
    attempt,
    ...(eventId && { eventId }),
    ...(listedBy && { listedBy }),
    ...(redelivery && { redelivery }),
    ...(scheduleStart !== undefined && { scheduleStart }),
    ...(recovery && { recovery }),
    ...(requestId && { requestId }),
  };
}

/** The largest number of parked attempts that are removed or sent at the same time. */
export const parkedAtOnce = 50;

/**
 * Parks an attempt in a pause. An attempt that is parked already is parked again, and no longer listed.
 *
 * @param pausedFrom the start of the pause; ISO 8601
 */
export async function parkAttempt(
  context: BatchingContext,
  message: DeliveryMessage,
  pausedFrom: string,
): Promise<ParkedAttempt> {
  const item = { ...itemOf(message), pausedFrom };
  await putInBatch(context, item);
  if (message.parkedInLog) await transactIfFirst(context.table, [removal(keyInLog(message), message)]);
  return parkedFrom(item);
}

/**
 * Puts a lost first attempt, which the sweeper's index lists as due now, and the idempotency record, or nothing.
 *
 * @throws `Conflict` if the attempt is parked, or another request was first
 */
export async function insertLostAttempt(
  { table, clock }: TableContext & { clock: () => number },
  message: DeliveryMessage,
  records: readonly Write[] = [],
): Promise<void> {
  const item = {
    ...itemOf(message),
    kind: redeliveryKind,
    ...dueEntry(parkedPartition(ulidOf(message.deliveryId)), timestamp(clock())),
  };
  await transact(table, [
    { Put: { Item: item, ConditionExpression: 'attribute_not_exists(pk)' }, onConditionFailed: () => new Conflict() },
    ...records,
  ]);
}

/**
 * Stores the time that an attempt has booked. The sweeper's index lists the attempt for that time.
 *
 * @param times when the sweeper begins to look for it, and up to which a time that it has booked before is over; ISO 8601
 * @returns whether it is stored: not if the attempt waits for the end of a pause, or has booked in the same pace or a later,
 *   a time that is not over
 */
export async function storeBooking(
  context: TableContext,
  message: DeliveryMessage & Booking,
  { listedFrom, overUntil }: { listedFrom: string; overUntil: string },
): Promise<boolean> {
  const { bookedAt, paceVersion } = message;
  const isOfFormerPace =
    paceVersion === undefined ? '' : ' OR attribute_not_exists(paceVersion) OR paceVersion < :pace';
  const fields = { bookedAt, ...(paceVersion !== undefined && { paceVersion }) };
  return putListed(context, message, fields, listedFrom, {
    condition: `(attribute_not_exists(bookedAt) OR bookedAt <= :over${isOfFormerPace})`,
    values: { ':over': overUntil, ...(paceVersion !== undefined && { ':pace': paceVersion }) },
  });
}

/**
 * Stores the time up to which an attempt tries to get a lease, without one that it has stored before. It keeps its booked
 * time. The sweeper's index lists the attempt for the time up to which it tries.
 *
 * @param waitsUntil ISO 8601
 * @returns whether it is stored: not if the attempt waits for the end of a pause, or has booked a later time
 */
export function storeWait(context: TableContext, message: DeliveryMessage, waitsUntil: string): Promise<boolean> {
  const { bookedAt, paceVersion } = message;
  if (bookedAt === undefined)
    return putListed(context, message, { waitsUntil }, waitsUntil, { condition: 'attribute_not_exists(bookedAt)' });
  const fields = { waitsUntil, bookedAt, ...(paceVersion !== undefined && { paceVersion }) };
  const noLater = '(attribute_not_exists(bookedAt) OR bookedAt <= :bookedAt)';
  return putListed(context, message, fields, waitsUntil, { condition: noLater, values: { ':bookedAt': bookedAt } });
}

/**
 * Puts the item of an attempt, which the sweeper's index lists, unless the attempt waits for the end of a pause.
 *
 * @param replaces the condition for an item to be replaced, with its values
 * @returns whether it was put
 */
async function putListed(
  { table }: TableContext,
  message: DeliveryMessage,
  fields: Partial<Booking> & { waitsUntil?: string },
  listedFrom: string,
  replaces: { condition: string; values?: Record<string, number | string> | undefined },
): Promise<boolean> {
  const entry = dueEntry(parkedPartition(ulidOf(message.deliveryId)), listedFrom);
  const names = { '#due': tableSchema.dueIndex.partitionKey };
  const write: Write = {
    Put: {
      Item: { ...itemOf(message), ...fields, ...entry },
      ConditionExpression: `attribute_not_exists(pk) OR (attribute_exists(#due) AND ${replaces.condition})`,
      ExpressionAttributeNames: names,
      ...(replaces.values && { ExpressionAttributeValues: replaces.values }),
    },
    onConditionFailed: () => new Conflict(),
  };
  const isListedInLog = { ConditionExpression: 'attribute_exists(#due)', ExpressionAttributeNames: names };
  const move = { Delete: { Key: keyInLog(message), ...isListedInLog }, onConditionFailed: () => new Conflict() };
  return transactIfFirst(table, [write, ...(message.parkedInLog ? [move] : [])]);
}

/** Returns the message of an attempt whose item was put: it is in its own place. */
export function parkedMessage({ parkedInLog, ...message }: DeliveryMessage): DeliveryMessage {
  return { ...message, parked: true };
}

/** Returns whether an item is a parked attempt. */
export function isParked({ sk }: Item): boolean {
  return (sk as string).startsWith(keys.parkedPrefix);
}

/**
 * Returns an attempt that is parked; `undefined` if it is not. Reads in one turn of the event loop are batched.
 *
 * @param mayBeInLog whether version 0.2.0 may have parked it
 */
export async function readParkedAttempt(
  context: BatchingContext,
  message: DeliveryMessage,
  mayBeInLog = message.parkedInLog,
): Promise<ParkedAttempt | undefined> {
  const [item, inLog] = await Promise.all([
    readInBatch(context, keyOf(message)),
    mayBeInLog && readInBatch(context, keyInLog(message)),
  ]);
  const found = item ?? inLog;
  return found && parkedFrom(found);
}

/** Returns whether an attempt is parked, so that its item leads to it. Reads in one turn of the event loop are batched. */
export async function isAttemptParked(context: BatchingContext, message: DeliveryMessage): Promise<boolean> {
  return (await readParkedAttempt(context, message, true)) !== undefined;
}

/** Returns the parked attempt of an item. */
export function parkedFrom(item: Item): ParkedAttempt {
  const { pk, sk, nextAttemptAt, pausedFrom, bookedAt, paceVersion, waitsUntil, ...fields } = item as ParkedItem;
  const [organization, webhookId] = [organizationOf(pk), `wh_${webhookOf(pk)}`];
  const attempt = { organization, webhookId, ...parkedFieldsOf(fields), dueAt: nextAttemptAt, parked: true as const };
  const message = {
    ...attempt,
    ...(keyInLog(attempt).pk === pk && { parkedInLog: true as const }),
    ...(bookedAt && { bookedAt }),
    ...(paceVersion !== undefined && { paceVersion }),
  };
  return {
    key: { pk, sk },
    message,
    pausedFrom,
    waitsUntil,
    listed: fields[tableSchema.dueIndex.partitionKey] !== undefined,
  };
}

/** Yields the parked attempts of a webhook, the oldest deliveries first, strongly consistent. */
export async function* readParkedAttempts(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
): AsyncGenerator<ParkedAttempt> {
  const items = [...parkedPartitions, undefined].map((part) =>
    queryItems(table, { ...keys.parkedAttempts(organization, ulidOf(webhookId), part), ascending: true }),
  );
  for await (const item of inOrder(items, ({ sk }) => sk as string)) yield parkedFrom(item);
}

/**
 * Lists a parked attempt in the sweeper's index, without a booked time and a wait for a lease, unless it was removed, parked
 * again in a later pause, or has booked another time.
 *
 * @param listedFrom when the sweeper begins to look for it; ISO 8601
 * @returns whether it is listed
 */
export async function listParkedAttempt(
  { table }: TableContext,
  { key, message, pausedFrom }: ParkedAttempt,
  listedFrom: string,
): Promise<boolean> {
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const { bookedAt } = message;
  const write: Write = {
    Update: {
      Key: key,
      UpdateExpression: 'SET #due = :due, #listed = :listed REMOVE bookedAt, paceVersion, waitsUntil',
      ConditionExpression: `${bookedAt ? 'bookedAt' : 'pausedFrom'} = :from`,
      ExpressionAttributeNames: { '#due': partitionKey, '#listed': sortKey },
      ExpressionAttributeValues: {
        ':due': parkedPartition(ulidOf(message.deliveryId)),
        ':listed': listedFrom,
        ':from': bookedAt ?? pausedFrom ?? '',
      },
      ReturnValues: 'UPDATED_NEW',
    },
    onConditionFailed: () => new Conflict(),
  };
  return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
}

/** Removes a parked attempt, unless a retry at another time has replaced it. */
export async function removeParkedAttempt({ table }: TableContext, message: DeliveryMessage): Promise<void> {
  const places = [keyOf(message), ...(message.parkedInLog ? [keyInLog(message)] : [])];
  await Promise.all(places.map((key) => transactIfFirst(table, [removal(key, message)])));
}

/** Returns the write that removes a parked attempt, unless it is one of a retry at another time. */
function removal(Key: Key, { dueAt }: DeliveryMessage): Write {
  return {
    Delete: {
      Key,
      ConditionExpression: 'nextAttemptAt = :dueAt',
      ExpressionAttributeValues: { ':dueAt': dueAt },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Returns the item of an attempt, without an entry in the sweeper's index. */
function itemOf(message: DeliveryMessage): Item {
  return {
    ...keyOf(message),
    ...parkedFieldsOf(message),
    nextAttemptAt: message.dueAt,
    [tableSchema.expiry]: historyExpiry(timeOf(ulidOf(message.deliveryId))),
  };
}

type ParkedPlace = Pick<DeliveryMessage, 'organization' | 'webhookId' | 'deliveryId' | 'attempt'>;

function keyOf(message: ParkedPlace): Key {
  return keyInPart(message, parkedPartition(ulidOf(message.deliveryId)));
}

/** Returns the key of an attempt that version 0.2.0 has parked. */
const keyInLog = (message: ParkedPlace): Key => keyInPart(message);

function keyInPart({ organization, webhookId, deliveryId, attempt }: ParkedPlace, part?: string): Key {
  return keys.parkedAttempt(organization, ulidOf(webhookId), { part, delivery: ulidOf(deliveryId), attempt });
}
