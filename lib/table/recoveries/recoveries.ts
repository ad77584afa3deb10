import { ApiError } from '../../contract/errors.ts';
import type { EventName } from '../../contract/events.ts';
import { timeOf, timestamp, ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { MissedKind, Recovery } from '../../contract/recoveries.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import { tableSchema } from '../../deployment/table-schema.ts';
import { requestFields } from '../../request-context.ts';
import type { TableContext } from '../client.ts';
import { retryOf } from '../deliveries/attempt-items.ts';
import { deliveryPartition } from '../deliveries/delivery-partitions.ts';
import { historyExpiry } from '../deliveries/history-days.ts';
import { type Key, keys, organizationOf, webhookOf } from '../keys.ts';
import { dueEntry, graceMs } from '../lists/due.ts';
import { getItem } from '../reads.ts';
import { Conflict, ignoreConflict, transact } from '../transact.ts';
import type { Item, Write } from '../write.ts';

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
  requestId?: string;
};

/** The fields that change while a recovery runs. */
export type RecoveryProgress = Pick<
  StoredRecovery,
  'sent' | 'delivered' | 'failed' | 'position' | 'confirmed' | 'latePosition' | 'nextSlotAt' | 'sentAgainAt'
>;

/** Returns the position after the last event of a range. */
export function endPosition({ until }: Pick<StoredRecovery, 'until'>): string {
  return ulidFrom(until, new Uint8Array(10).fill(255));
}

/** Returns the recovery of an item. */
export function recoveryFrom({ pk, sk, due: _, expiresAt: __, ...rest }: Item): StoredRecovery {
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

/** The lock of a webhook: the id of its recovery, and whether that recovery is running. */
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
  return { recoveryId, runs: recovery?.status === 'running' };
}

/**
 * Puts a recovery, which is due now, the lock of its webhook, and the idempotency record, or nothing. A recovery without
 * events is completed at once.
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
  const start = ulidFrom(rest.since, new Uint8Array(10));
  const runs = rest.matched > 0;
  const item = {
    ...keys.recovery(organization, webhook, ulid),
    ...rest,
    ...requestFields(),
    status: runs ? 'running' : 'completed',
    ...{ sent: 0, delivered: 0, failed: 0, position: start, confirmed: start, nextSlotAt: 0, sentAgainAt: 0 },
    ...(runs ? dueEntry(recoveryPartition, timestamp(now)) : { completedAt: timestamp(now) }),
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
  await transact(table, [{ Put: { Item: item } }, ...(runs ? [lock] : []), ...records]);
}

/** Returns the error for a webhook whose recovery is running. */
export function recoveryInProgress(): ApiError {
  return new ApiError('recovery_in_progress', 'A recovery of this webhook is running; wait until it is completed.');
}

/** Stores the progress of a recovery, unless another sweep has taken it since it was read. */
export async function storeProgress(
  { table }: TableContext,
  recovery: StoredRecovery,
  progress: RecoveryProgress,
  dueAt: string,
): Promise<void> {
  const changes = { ...progress, [tableSchema.dueIndex.sortKey]: dueAt };
  await transact(table, [updateOf(recovery, changes)]).catch(ignoreConflict);
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
 * of a late event, whose place the recovery has passed.
 *
 * @param last the number of the delivery's last attempt; 0 if none was made. `lost` says that the message of the first
 *   attempt is lost, and may still arrive
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
  }: { deliveryId: string; eventId: string; last: number; requestId?: string; lost: boolean },
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
    ...(isLate ? dueEntry(deliveryPartition(ulid), timestamp(dueAt + graceMs)) : { recovery: ulidOf(id) }),
    ...(lost && { lost }),
    nextAttemptAt: timestamp(dueAt),
    [tableSchema.expiry]: historyExpiry(dueAt),
  };
  const write: Write = {
    Put: { Item: item, ConditionExpression: 'attribute_not_exists(pk)' },
    onConditionFailed: () => new Conflict(),
  };
  let stored = true;
  await transact(table, [write]).catch((error) => {
    ignoreConflict(error);
    stored = false;
  });
  return stored ? (isLate ? retryOf(item) : recoveredMessage(item)) : undefined;
}

/** Returns whether the item of a redelivery is an attempt of a recovery. */
export function isRecoveredBy({ id }: StoredRecovery, item: Item): boolean {
  return item.recovery === ulidOf(id);
}

/**
 * Returns the message of a stored attempt of a recovery. A lost first attempt is due at the time of its event, as in its
 * first message: if that message arrives after all, both lead to one row.
 */
export function recoveredMessage(item: Item): DeliveryMessage {
  // The item is in no index from which the worker could remove it.
  const { listedBy: _, ...message } = retryOf(item) as DeliveryMessage;
  return item.lost ? { ...message, dueAt: timestamp(timeOf(ulidOf(message.deliveryId))) } : message;
}

/** Returns when a stored attempt of a recovery may begin, by the rate of the webhook (Unix time, in ms). */
export function slotOf({ nextAttemptAt }: Item): number {
  return Date.parse(nextAttemptAt as string);
}

/** Returns the recovery as the API shows it. */
export function shownRecovery(recovery: StoredRecovery): Recovery {
  const { id, webhookId, status, since, until, events, include, matched, sent, delivered, failed, completedAt } =
    recovery;
  return {
    id,
    webhookId,
    status,
    since: timestamp(since),
    until: timestamp(until),
    ...(events && { events }),
    include,
    matched,
    sent,
    delivered,
    failed,
    createdAt: timestamp(timeOf(ulidOf(id))),
    ...(completedAt && { completedAt }),
  };
}

function keyOf({ organization, webhookId, id }: StoredRecovery): Key {
  return keys.recovery(organization, ulidOf(webhookId), ulidOf(id));
}

function lockKeyOf({ organization, webhookId }: StoredRecovery): Key {
  return keys.recoveryLock(organization, ulidOf(webhookId));
}

/** Returns the update of a recovery that this sweep has taken: its entry in the index is still that of this sweep. */
function updateOf(recovery: StoredRecovery, changes: Record<string, unknown>, removed: readonly string[] = []): Write {
  const names = Object.keys(changes);
  const set = `SET ${names.map((_, at) => `#set${at} = :set${at}`).join(', ')}`;
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
