import type { Page } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import type { MissedKind, Recovery } from '../../contract/webhooks/recoveries.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type BatchingContext, readInBatch } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { requestFields } from '../access/current-request.ts';
import { type Key, keys, organizationOf, webhookOf } from '../access/keys.ts';
import { countItems, getItem, readRange } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact, transactIfFirst } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { retryOf } from '../deliveries/attempt-items.ts';
import { replaceRetry, type WaitingRetry } from '../deliveries/redeliveries.ts';
import { deliveryPartition } from '../lists/delivery-partitions.ts';
import { dueEntry, graceMs, postponeDue } from '../lists/due.ts';
import { historyExpiry } from '../lists/history-days.ts';

/** The kind of recoveries: the stream has new ones, so that they are continued at once. */
export const recoveryKind = 'recovery';

/** The partition of the `due` index that lists running recoveries. Earlier versions do not read it. */
export const recoveryPartition = 'recovery';

/** A recovery in the table. Its progress is two positions in the event log, as ULIDs of events. */
export type StoredRecovery = {
  organization: Organization;
  webhookId: string;
  /** `rc_` and a ULID. */
  id: string;
  status: Recovery['status'];
  /** The range of events (Unix times in ms, both included). */
  since: number;
  until: number;
  events?: EventName[];
  include: MissedKind[];
  /** The service has begun it. */
  auto?: true;
  /** Only deliveries that have failed since then, and events since then that were skipped; Unix time, in ms. */
  missedFrom?: number;
  /** It goes over its range once more: in the first time, attempts were too recent to be replaced. */
  again?: true;
  /** The maximum rate; absent in recoveries of versions before it was a setting. */
  ratePerSecond?: number;
  matched: number;
  sent: number;
  delivered: number;
  failed: number;
  /** Up to here, an attempt is stored for each event to send. */
  position: string;
  /** Up to here, these attempts were made. */
  confirmed: string;
  /** The position up to which late events were looked through; absent before the first. */
  latePosition?: string;
  /** When the next message may be received, so that the receiver gets no more than its rate (Unix time, in ms). */
  nextSlotAt: number;
  /** When messages were last sent again (Unix time, in ms); 0 for never. */
  sentAgainAt: number;
  /** When the sweeper takes the recovery again; ISO 8601. Absent after its end. */
  dueAt?: string;
  completedAt?: string;
  cancelledAt?: string;
  requestId?: string;
};

/** The fields that change while a recovery runs. */
export type RecoveryProgress = Pick<
  StoredRecovery,
  'sent' | 'delivered' | 'failed' | 'position' | 'confirmed' | 'latePosition' | 'nextSlotAt' | 'sentAgainAt'
>;

/** Returns the progress of a recovery at its beginning. */
export function progressAtStart({ since }: Pick<StoredRecovery, 'since'>): RecoveryProgress {
  const start = ulidFrom(since, new Uint8Array(10));
  return { sent: 0, delivered: 0, failed: 0, position: start, confirmed: start, nextSlotAt: 0, sentAgainAt: 0 };
}

/** Returns the position after the last event of a range. */
export function endPosition({ until }: Pick<StoredRecovery, 'until'>): string {
  return ulidFrom(until, new Uint8Array(10).fill(255));
}

/** Returns the recovery of an item. */
export function recoveryFrom({ pk, sk, kind, due, expiresAt, ...rest }: Item): StoredRecovery {
  const [organization, webhookId] = [organizationOf(pk as string), `wh_${webhookOf(pk as string)}`];
  return { organization, webhookId, id: `rc_${sk}`, ...rest } as StoredRecovery;
}

/** Returns a recovery, strongly consistent; `undefined` if it does not exist. */
export async function readRecovery(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  id: string,
): Promise<StoredRecovery | undefined> {
  const item = await getItem(table, keys.recovery(organization, ulidOf(webhookId), ulidOf(id)));
  return item && recoveryFrom(item);
}

/** Returns whether the recovery of an attempt is cancelled. Reads in one turn of the event loop are batched. */
export async function isRecoveryCancelled(
  context: BatchingContext,
  { organization, webhookId, recovery }: DeliveryMessage,
): Promise<boolean> {
  if (recovery === undefined) return false;
  const item = await readInBatch(context, keys.recovery(organization, ulidOf(webhookId), recovery));
  return item?.status === 'cancelled';
}

/** Returns a page of the recoveries of a webhook, newest first, and their exact number. */
export async function readRecoveryPage(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<StoredRecovery>> {
  const range = keys.recoveries(organization, ulidOf(webhookId));
  const newest = await readRange(table, { ...range, limit: offset + limit });
  const isWhole = newest.length < offset + limit;
  const total = isWhole ? newest.length : await countItems(table, range);
  return { items: newest.slice(offset).map(recoveryFrom), total };
}

/** The lock of a webhook: the id of its recovery, and whether that recovery runs, or has attempts to take back. */
export type RecoveryLock = { recoveryId: string; runs: boolean };

/**
 * Returns the lock of a webhook, strongly consistent; `undefined` if it has none. The recovery of a lock can be gone, because
 * it expires after 90 days: then another recovery takes the lock over.
 */
export async function readRecoveryLock(
  context: TableContext,
  organization: Organization,
  webhookId: string,
): Promise<RecoveryLock | undefined> {
  const lock = await getItem(context.table, keys.recoveryLock(organization, ulidOf(webhookId)));
  if (!lock) return undefined;
  const recoveryId = `rc_${lock.recovery}`;
  const recovery = await readRecovery(context, organization, webhookId, recoveryId);
  return { recoveryId, runs: recovery !== undefined && recovery.status !== 'completed' };
}

/**
 * Puts a recovery, which is due now, the lock of its webhook, and the idempotency record, or nothing.
 *
 * @param replaced the lock of a recovery that does not run any more, which the new one takes over
 * @throws `ApiError` `recovery_in_progress`
 */
export async function insertRecovery(
  { table, clock }: TableContext & { clock: () => number },
  { organization, webhookId, id, ...rest }: Omit<StoredRecovery, keyof RecoveryProgress | 'status'>,
  replaced: RecoveryLock | undefined,
  records: readonly Write[] = [],
): Promise<void> {
  const now = clock();
  const [webhook, ulid] = [ulidOf(webhookId), ulidOf(id)];
  const item = {
    ...keys.recovery(organization, webhook, ulid),
    kind: recoveryKind,
    ...rest,
    ...requestFields(),
    status: 'running',
    ...progressAtStart(rest),
    ...dueEntry(recoveryPartition, timestamp(now)),
    [tableSchema.expiry]: historyExpiry(now),
  };
  const lock: Write = {
    Put: {
      Item: { ...keys.recoveryLock(organization, webhook), recovery: ulid },
      ConditionExpression: `attribute_not_exists(pk)${replaced ? ' OR recovery = :replaced' : ''}`,
      ...(replaced && { ExpressionAttributeValues: { ':replaced': ulidOf(replaced.recoveryId) } }),
    },
    onConditionFailed: recoveryInProgress,
  };
  await transact(table, [{ Put: { Item: item } }, lock, ...records]);
}

/** Returns the error for a webhook whose recovery is running. */
export function recoveryInProgress(): ApiError {
  return new ApiError('recovery_in_progress', 'A recovery of this webhook is running; wait until it is completed.');
}

/**
 * Stores the progress of a recovery, and when it is taken again (ISO 8601).
 *
 * @returns whether it is stored: not if another worker has taken the recovery since it was read, or it was cancelled
 */
export async function storeRecoveryProgress(
  { table }: TableContext,
  recovery: StoredRecovery,
  progress: Partial<RecoveryProgress & Pick<StoredRecovery, 'again'>>,
  dueAt: string,
): Promise<boolean> {
  const changes = { ...progress, [tableSchema.dueIndex.sortKey]: dueAt };
  return transactIfFirst(table, [updateOf(recovery, changes)]);
}

/**
 * Stores that a recovery is cancelled, and the idempotency record, or nothing.
 *
 * @param dueAt when its attempts that were not made are taken back; ISO 8601
 * @throws `Conflict` if it has ended in the meantime
 */
export async function storeCancelled(
  { table }: TableContext,
  recovery: StoredRecovery,
  dueAt: string,
  records: readonly Write[],
): Promise<void> {
  const { status, cancelledAt } = recovery;
  const write: Write = {
    Update: {
      Key: keyOf(recovery),
      UpdateExpression: 'SET #status = :status, cancelledAt = :at, #dueAt = :dueAt',
      ConditionExpression: '#status = :running',
      ExpressionAttributeNames: { '#status': 'status', '#dueAt': tableSchema.dueIndex.sortKey },
      ExpressionAttributeValues: { ':status': status, ':at': cancelledAt, ':dueAt': dueAt, ':running': 'running' },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write, ...records]);
}

/**
 * Moves the entry of a recovery to a later moment, so that no other worker continues it until then.
 *
 * @param later ISO 8601
 * @returns the recovery as it is now; `undefined` if its entry has changed since it was read
 */
export async function takeRecovery(
  context: TableContext,
  recovery: StoredRecovery,
  later: string,
): Promise<StoredRecovery | undefined> {
  const { dueAt } = recovery;
  const item = dueAt === undefined ? undefined : await postponeDue(context, { key: keyOf(recovery), dueAt }, later);
  return item && recoveryFrom(item);
}

/** Deletes the lock of a webhook whose recovery is cancelled, unless another recovery has it. */
export async function unlockRecovery({ table }: TableContext, recovery: StoredRecovery): Promise<void> {
  const write: Write = {
    Delete: {
      Key: lockKeyOf(recovery),
      ConditionExpression: 'recovery = :recovery',
      ExpressionAttributeValues: { ':recovery': ulidOf(recovery.id) },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/** Removes a cancelled recovery from the sweeper's index, unless another sweep has taken it. */
export async function unlistRecovery({ table }: TableContext, recovery: StoredRecovery): Promise<void> {
  const write = updateOf(recovery, {}, [tableSchema.dueIndex.partitionKey, tableSchema.dueIndex.sortKey]);
  await transact(table, [write]).catch(ignoreConflict);
}

/** Stores the end of a recovery, and deletes the lock of its webhook, unless another sweep has taken the recovery. */
export async function completeRecovery(
  { table }: TableContext,
  recovery: StoredRecovery,
  progress: RecoveryProgress,
  completedAt: string,
): Promise<void> {
  const changes = { ...progress, status: 'completed', completedAt };
  const write = updateOf(recovery, changes, [tableSchema.dueIndex.partitionKey, tableSchema.dueIndex.sortKey]);
  await transact(table, [write, { Delete: { Key: lockKeyOf(recovery) } }]).catch(ignoreConflict);
}

/** Deletes the recovery of a deleted webhook, and its lock. */
export async function deleteRecovery({ table }: TableContext, recovery: StoredRecovery): Promise<void> {
  await transact(table, [{ Delete: { Key: keyOf(recovery) } }, { Delete: { Key: lockKeyOf(recovery) } }]);
}

/**
 * Stores an attempt of a recovery as a redelivery. Its key has the number of the attempt, so an attempt is stored once. The
 * sweeper's index does not list it: the recovery itself sends its message again if it was lost. It lists only the attempt
 * of a late event, whose place the recovery has passed. If a retry of the delivery waits, the attempt takes its place.
 *
 * @param last the number of the delivery's last attempt; 0 if none was made. `lost` says that the message of the first
 *   attempt is lost, and may still arrive; `retry` is the retry that waits
 * @param dueAt Unix time, in ms
 * @param isLate whether the event reached the log after the recovery had passed its place
 * @returns the message of the attempt; `undefined` if the attempt is already stored
 */
export async function insertRecoveredAttempt(
  { table }: TableContext,
  recovery: StoredRecovery,
  {
    deliveryId,
    eventId,
    last,
    requestId,
    lost,
    retry,
  }: {
    deliveryId: string;
    eventId: string;
    last: number;
    requestId?: string;
    lost: boolean;
    retry?: WaitingRetry | undefined;
  },
  dueAt: number,
  isLate = false,
): Promise<DeliveryMessage | undefined> {
  const { organization, webhookId, id } = recovery;
  const ulid = ulidOf(deliveryId);
  const item = {
    ...keys.redelivery(organization, ulidOf(webhookId), ulid, last + 1),
    deliveryId,
    eventId,
    attempt: last,
    scheduleStart: last + 1,
    ...(requestId && { requestId }),
    recovery: ulidOf(id),
    ...(isLate && { late: true, ...dueEntry(deliveryPartition(ulid), timestamp(dueAt + graceMs)) }),
    ...(lost && { lost }),
    ...(retry && { replaces: retry.row.sk }),
    nextAttemptAt: timestamp(dueAt),
    [tableSchema.expiry]: historyExpiry(dueAt),
  };
  const write: Write = {
    Put: { Item: item, ConditionExpression: 'attribute_not_exists(pk)' },
    onConditionFailed: () => new Conflict(),
  };
  const stored = await transactIfFirst(table, [write, ...(retry ? [replaceRetry(retry)] : [])]);
  return stored ? (isLate ? retryOf(item) : recoveredMessage(item)) : undefined;
}

/**
 * Returns whether the item of a redelivery is an attempt of a recovery that is in its numbers: not the attempt of a late event,
 * which the sweeper's index lists until it is made.
 */
export function isRecoveredBy({ id }: StoredRecovery, item: Item): boolean {
  return item.recovery === ulidOf(id) && item.late !== true;
}

/**
 * Takes an attempt of a cancelled recovery back that was not made: deletes its item, and lists the retry again that it has
 * replaced.
 *
 * @param row the row of the failed attempt whose retry was replaced, if there is one
 * @param listedFrom when the sweeper begins to look for that retry; ISO 8601
 * @returns the message of the retry; `undefined` if there is none, or the attempt was taken back before
 */
export async function deleteRecoveredAttempt(
  { table }: TableContext,
  item: Item,
  row: Item | undefined,
  listedFrom: string,
): Promise<DeliveryMessage | undefined> {
  const retry = row && retryOf(row);
  const deletion: Write = {
    Delete: {
      Key: { pk: item.pk, sk: item.sk } as Key,
      ConditionExpression: 'recovery = :recovery',
      ExpressionAttributeValues: { ':recovery': item.recovery },
    },
    onConditionFailed: () => new Conflict(),
  };
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const listing: Write[] = retry
    ? [
        {
          Update: {
            Key: { pk: row.pk, sk: row.sk } as Key,
            UpdateExpression: 'SET #due = :due, #dueAt = :from',
            ConditionExpression: 'nextAttemptAt = :next',
            ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
            ExpressionAttributeValues: {
              ':due': deliveryPartition(ulidOf(retry.deliveryId)),
              ':from': listedFrom,
              ':next': retry.dueAt,
            },
          },
          onConditionFailed: () => new Conflict(),
        },
      ]
    : [];
  const deleted = await transactIfFirst(table, [deletion, ...listing]);
  return deleted ? retry : undefined;
}

/**
 * Returns the message of a stored attempt of a recovery. A lost first attempt is due at the time of its event, as in its
 * first message: if that message arrives after all, both lead to one row.
 */
export function recoveredMessage(item: Item): DeliveryMessage {
  // The item is in no index from which the worker could remove it.
  const { listedBy, ...message } = retryOf(item) as DeliveryMessage;
  return item.lost ? { ...message, dueAt: timestamp(timeOf(ulidOf(message.deliveryId))) } : message;
}

/** Returns when a stored attempt of a recovery may begin, by the rate of the webhook (Unix time, in ms). */
export function slotOf({ nextAttemptAt }: Item): number {
  return Date.parse(nextAttemptAt as string);
}

/** Returns the recovery as the API shows it. */
export function shownRecovery(recovery: StoredRecovery): Recovery {
  const { id, webhookId, status, since, until, events, include, auto, ratePerSecond, completedAt, cancelledAt } =
    recovery;
  const { matched, sent, delivered, failed } = recovery;
  return {
    id,
    webhookId,
    state: status,
    status,
    since: timestamp(since),
    until: timestamp(until),
    ...(events && { events }),
    include,
    ...(ratePerSecond !== undefined && { ratePerSecond }),
    ...(auto && { auto }),
    matched,
    sent,
    delivered,
    failed,
    createdAt: timestamp(timeOf(ulidOf(id))),
    ...(completedAt && { completedAt }),
    ...(cancelledAt && { cancelledAt }),
  };
}

function keyOf({ organization, webhookId, id }: StoredRecovery): Key {
  return keys.recovery(organization, ulidOf(webhookId), ulidOf(id));
}

function lockKeyOf({ organization, webhookId }: StoredRecovery): Key {
  return keys.recoveryLock(organization, ulidOf(webhookId));
}

/** Returns the update of a recovery that this sweep has taken: its entry in the index is still the entry of this sweep. */
function updateOf(recovery: StoredRecovery, changes: Record<string, unknown>, removed: readonly string[] = []): Write {
  const names = Object.keys(changes);
  const set = names.length > 0 ? `SET ${names.map((_, at) => `#set${at} = :set${at}`).join(', ')}` : '';
  const remove = removed.length > 0 ? ` REMOVE ${removed.map((_, at) => `#removed${at}`).join(', ')}` : '';
  return {
    Update: {
      Key: keyOf(recovery),
      UpdateExpression: `${set}${remove}`,
      ConditionExpression: '#taken = :taken',
      ExpressionAttributeNames: {
        '#taken': tableSchema.dueIndex.sortKey,
        ...Object.fromEntries(names.map((name, at) => [`#set${at}`, name])),
        ...Object.fromEntries(removed.map((name, at) => [`#removed${at}`, name])),
      },
      ExpressionAttributeValues: {
        ':taken': recovery.dueAt,
        ...Object.fromEntries(names.map((name, at) => [`:set${at}`, changes[name]])),
      },
    },
    onConditionFailed: () => new Conflict(),
  };
}
