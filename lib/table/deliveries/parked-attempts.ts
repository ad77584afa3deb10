import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import { tableSchema } from '../../deployment/table-schema.ts';
import { type BatchingContext, putInBatch } from '../batchers.ts';
import type { TableContext } from '../client.ts';
import { type Key, keys, organizationOf } from '../keys.ts';
import { dueEntry } from '../lists/due.ts';
import { queryItems } from '../reads.ts';
import { Conflict, ignoreConflict, transact } from '../transact.ts';
import type { Item, Write } from '../write.ts';
import { deliveryPartition } from './delivery-partitions.ts';
import { historyExpiry } from './history-days.ts';

/**
 * A parked attempt is one that came due while its webhook was paused. It is an item in the partition of the attempt log,
 * without an entry in the sweeper's index, so that it costs nothing while the webhook stays paused. The end of the pause
 * writes a release, which is due at once: the sweeper sends the messages of all parked attempts and removes them.
 */
export type ParkedAttempt = { message: DeliveryMessage; key: Key; pausedFrom: string };

/** The fields of a message that its parked attempt stores under the same names. */
type ParkedFields = Pick<
  DeliveryMessage,
  'deliveryId' | 'eventId' | 'attempt' | 'listedBy' | 'redelivery' | 'scheduleStart' | 'requestId'
>;

/** The item of a parked attempt. */
type ParkedItem = Key & ParkedFields & { nextAttemptAt: string; pausedFrom: string };

/** Returns the parked fields of a message or of an item, without those that it does not have. */
function parkedFieldsOf(from: ParkedFields): ParkedFields {
  const { deliveryId, eventId, attempt, listedBy, redelivery, scheduleStart, requestId } = from;
  return {
    deliveryId,
    attempt,
    ...(eventId && { eventId }),
    ...(listedBy && { listedBy }),
    ...(redelivery && { redelivery }),
    ...(scheduleStart !== undefined && { scheduleStart }),
    ...(requestId && { requestId }),
  };
}

/** The largest number of parked attempts that are removed or sent at the same time. */
export const parkedAtOnce = 50;

/**
 * Parks an attempt. An attempt that is parked already is parked again.
 *
 * @param pausedFrom the start of the pause; ISO 8601
 */
export async function parkAttempt(
  context: BatchingContext,
  message: DeliveryMessage,
  pausedFrom: string,
): Promise<ParkedAttempt> {
  const { organization, webhookId, deliveryId, attempt, dueAt } = message;
  const key = keys.parkedAttempt(organization, ulidOf(webhookId), ulidOf(deliveryId), attempt);
  await putInBatch(context, {
    ...key,
    ...parkedFieldsOf(message),
    nextAttemptAt: dueAt,
    pausedFrom,
    [tableSchema.expiry]: historyExpiry(timeOf(ulidOf(deliveryId))),
  });
  return { message, key, pausedFrom };
}

/** Yields the parked attempts of a webhook, strongly consistent. */
export async function* readParkedAttempts(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
): AsyncGenerator<ParkedAttempt> {
  for await (const item of queryItems(table, keys.parkedAttempts(organization, ulidOf(webhookId)))) {
    const { pk, sk, nextAttemptAt, pausedFrom, ...fields } = item as ParkedItem;
    const message = { organization, webhookId, ...parkedFieldsOf(fields), dueAt: nextAttemptAt };
    yield { message, key: { pk, sk }, pausedFrom };
  }
}

/** Lists an attempt in the sweeper's index again, in the item that listed it before it was parked. */
export async function listAgain(
  { table }: TableContext,
  { organization, webhookId, deliveryId, listedBy, dueAt }: DeliveryMessage,
  listedFrom: number,
): Promise<void> {
  if (listedBy === undefined) return;
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const entry = dueEntry(deliveryPartition(ulidOf(deliveryId)), timestamp(listedFrom));
  const write: Write = {
    Update: {
      Key: { pk: keys.attemptScope(organization, ulidOf(webhookId)).rows, sk: listedBy },
      UpdateExpression: 'SET #due = :due, #listed = :listed',
      // Another retry has replaced the parked one if the item names another time.
      ConditionExpression: '#next = :next',
      ExpressionAttributeNames: { '#due': partitionKey, '#listed': sortKey, '#next': 'nextAttemptAt' },
      ExpressionAttributeValues: { ':due': entry[partitionKey], ':listed': entry[sortKey], ':next': dueAt },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/** Removes a parked attempt, unless it was parked again in a later pause. */
export async function removeParkedAttempt(
  { table }: TableContext,
  { key, pausedFrom }: Omit<ParkedAttempt, 'message'>,
): Promise<void> {
  const write: Write = {
    Delete: {
      Key: key,
      ConditionExpression: 'pausedFrom = :from',
      ExpressionAttributeValues: { ':from': pausedFrom },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/** An order to the sweeper to send the parked attempts of a webhook, or to remove those of a deleted one. */
export type Release = { organization: Organization; webhookId: string; version: number };

/** Returns the write of a release, which is due now. It replaces an earlier one of the webhook. */
export function releaseWrite({ organization, webhookId, version }: Release, now: number): Write {
  const ulid = ulidOf(webhookId);
  const entry = dueEntry(deliveryPartition(ulid), timestamp(now));
  return { Put: { Item: { ...keys.parkedRelease(organization, ulid), version, ...entry } } };
}

/** Returns the release of an item; `undefined` for other items. */
export function releaseFrom({ pk, sk, version }: Item): Release | undefined {
  const organization = organizationOf(pk as string);
  const webhookId = `wh_${sk}`;
  if (keys.parkedRelease(organization, sk as string).pk !== pk) return undefined;
  return { organization, webhookId, version: version as number };
}

/** Removes a release, unless a later one has replaced it. */
export async function removeRelease(
  { table }: TableContext,
  { organization, webhookId, version }: Release,
): Promise<void> {
  const write: Write = {
    Delete: {
      Key: keys.parkedRelease(organization, ulidOf(webhookId)),
      ConditionExpression: '#version = :version',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':version': version },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}
