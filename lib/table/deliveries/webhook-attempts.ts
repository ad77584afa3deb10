import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../client.ts';
import { clocksDifferMs, isTooFarAhead } from '../clocks.ts';
import { keys } from '../keys.ts';
import { leaseFree, leaseTimestamps } from '../lease.ts';
import { getItem } from '../reads.ts';
import { Conflict, ignoreConflict, transact } from '../transact.ts';
import type { Write } from '../write.ts';
import { releaseWrite } from './parked-attempts.ts';
import type { Target } from './webhooks.ts';

/**
 * The writes of attempts to the item of their webhook. They are not in `webhooks.ts`, because the functions of the API
 * need none of them.
 */

/** The changes of a webhook's item at the end of an attempt. */
export type Pace = {
  /** Whether the attempt has shown that the receiver is slow, or that it is quick; absent: neither. */
  slow?: boolean | undefined;
  /** The lease on slow attempts that the attempt had, and that it returns. */
  lease?: ReturnedLease | undefined;
};

/** The number of a lease and its expiry; and the expiry that it gets, if it is not free at once. ISO 8601. */
type ReturnedLease = { number: number; until: string; freeAt?: string | undefined };

/** Returns the attribute that holds the expiry of a lease on slow attempts. */
const slowLeaseAttribute = (number: number) => `slowLease${number}`;

/** Updates the pace of a webhook after an attempt. Writes nothing if it stays the same or the webhook is deleted. */
export async function updatePace(
  { table }: TableContext,
  organization: Organization,
  id: string,
  before: Pick<Target, 'slow'>,
  { slow, lease }: Pace,
): Promise<void> {
  const changed = slow === before.slow ? undefined : slow;
  if (lease && (await writePace(table, organization, id, { slow: changed, lease }))) return;
  // Without a lease, or the lease is that of another attempt, which must keep it.
  if (changed !== undefined) await writePace(table, organization, id, { slow: changed });
}

/**
 * Writes the pace of a webhook in one write.
 *
 * @returns whether the webhook exists, and the lease, if there is one, has not been taken by another attempt
 */
async function writePace(
  table: TableContext['table'],
  organization: Organization,
  id: string,
  { slow, lease }: Pace,
): Promise<boolean> {
  const set = [...(slow ? ['slow = :slow'] : []), ...(lease?.freeAt ? ['#lease = :freeAt'] : [])];
  const removed = [...(slow === false ? ['slow'] : []), ...(lease && !lease.freeAt ? ['#lease'] : [])];
  const values = {
    ...(slow && { ':slow': true }),
    ...(lease && { ':until': lease.until }),
    ...(lease?.freeAt && { ':freeAt': lease.freeAt }),
  };
  const write: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(id)),
      UpdateExpression: [
        ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
        ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
      ].join(' '),
      ConditionExpression: `attribute_exists(pk)${lease ? ' AND #lease = :until' : ''}`,
      ...(lease && { ExpressionAttributeNames: { '#lease': slowLeaseAttribute(lease.number) } }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      ReturnValues: 'ALL_NEW',
    },
    // The leases of a deleted webhook are deleted with it.
    onConditionFailed: () => new Conflict(),
  };
  return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
}

/** Marks the receiver of a webhook as slow. Does nothing if the webhook is deleted. */
export async function markWebhookSlow({ table }: TableContext, organization: Organization, id: string): Promise<void> {
  const write: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(id)),
      UpdateExpression: 'SET slow = :slow',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':slow': true },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/**
 * Takes one of the leases on the slow attempts of a webhook, until it expires or the end of the attempt returns it.
 *
 * @returns whether the lease was free and the webhook is not deleted
 */
export async function leaseSlowAttempt(
  { table }: TableContext,
  organization: Organization,
  id: string,
  { number, now, until }: { number: number; now: string; until: string },
): Promise<boolean> {
  const write: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(id)),
      UpdateExpression: 'SET #lease = :until',
      ConditionExpression: `attribute_exists(pk) AND ${leaseFree('#lease')}`,
      ExpressionAttributeNames: { '#lease': slowLeaseAttribute(number) },
      ExpressionAttributeValues: { ':until': until, ...leaseTimestamps(now, until) },
      ReturnValues: 'UPDATED_NEW',
    },
    onConditionFailed: () => new Conflict(),
  };
  return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
}

/** The part of a context that booked times need. */
type BookingContext = TableContext & { clock: () => number };

/**
 * Books the next time for an attempt of a webhook, after all times that are booked.
 *
 * @param earliest the earliest time (Unix time, in ms), `gapMs` the time until the next one that can be booked, in ms, and
 *   `paceVersion` the version of the webhook's pace to which the gap belongs; absent before its first change
 * @returns the time (Unix time, in ms); `undefined` if the webhook is deleted, its pace has changed, or a clock that was ahead
 *   has booked, see `endTimesAhead`
 */
export async function bookAttempt(
  { table, clock }: BookingContext,
  organization: Organization,
  id: string,
  { earliest, gapMs, paceVersion }: { earliest: number; gapMs: number; paceVersion?: number | undefined },
): Promise<number | undefined> {
  const isSamePace = paceVersion === undefined ? 'attribute_not_exists(paceVersion)' : 'paceVersion = :pace';
  const isNotAhead = '(attribute_not_exists(latestBookingAt) OR latestBookingAt <= :latest)';
  const now = clock();
  const book = async (set: string, condition: string, values: Record<string, number>) => {
    const write: Write = {
      Update: {
        Key: keys.webhook(organization, ulidOf(id)),
        UpdateExpression: `SET bookedUntil = ${set}, latestBookingAt = :now`,
        ConditionExpression: `attribute_exists(pk) AND ${isSamePace} AND ${isNotAhead} AND ${condition}`,
        ExpressionAttributeValues: {
          ':earliest': earliest,
          ':now': now,
          ':latest': now + clocksDifferMs,
          ...(paceVersion !== undefined && { ':pace': paceVersion }),
          ...values,
        },
        ReturnValues: 'UPDATED_NEW',
      },
      onConditionFailed: () => new Conflict(),
    };
    const item = await transact(table, [write]).catch(ignoreConflict);
    return item && (item.bookedUntil as number) - gapMs;
  };
  const after = () => book('bookedUntil + :gap', 'bookedUntil > :earliest', { ':gap': gapMs });
  const first = () =>
    book(':next', '(attribute_not_exists(bookedUntil) OR bookedUntil <= :earliest)', { ':next': earliest + gapMs });
  // Between the first two writes another attempt may have booked.
  return (await after()) ?? (await first()) ?? (await after());
}

/**
 * Ends all booked times of a webhook if the latest attempt that has booked has a time of the future: a clock that was ahead has
 * set them, and nothing may wait for it. Otherwise it does nothing. As a pause does, it begins a new version of the pace and
 * writes a release, which sends the waiting attempts again. The version of the webhook changes too, although no caller sees
 * another difference: it names the pace.
 */
export async function endTimesAhead(
  { table, clock }: BookingContext,
  organization: Organization,
  id: string,
): Promise<void> {
  const Key = keys.webhook(organization, ulidOf(id));
  const now = clock();
  const { latestBookingAt, version = 1 } = ((await getItem(table, Key)) ?? {}) as {
    latestBookingAt?: number;
    version?: number;
  };
  if (latestBookingAt === undefined || !isTooFarAhead(latestBookingAt, now, 0)) return;
  const next = version + 1;
  const write: Write = {
    Update: {
      Key,
      UpdateExpression: 'SET #version = :next, paceVersion = :next REMOVE bookedUntil, latestBookingAt',
      ConditionExpression: 'latestBookingAt = :booked AND (#version = :version OR attribute_not_exists(#version))',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':next': next, ':booked': latestBookingAt, ':version': version },
    },
    onConditionFailed: () => new Conflict(),
  };
  const release = releaseWrite({ organization, webhookId: id, version: next }, now);
  await transact(table, [write, release]).catch(ignoreConflict);
}
