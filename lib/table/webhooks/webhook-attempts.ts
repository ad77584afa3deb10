import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { clocksDifferMs, isTooFarAhead } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { leaseFree, leaseTimestamps } from '../lease.ts';
import { releaseWrite } from './releases.ts';
import type { Target } from './webhooks.ts';

/**
 * The writes of attempts to the item of their webhook. They are not in `webhooks.ts`, because the functions of the API
 * need none of them.
 */

/** The changes of a webhook's item at the end of an attempt. */
export type Pace = {
  /** Whether the attempt has shown that the receiver is slow, or that it is quick; absent: neither. */
  slow?: boolean | undefined;
  /** The number and the expiry (ISO 8601) of the lease on slow attempts that the attempt had, and that it returns. */
  lease?: { number: number; until: string } | undefined;
};

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
  // There is no lease, or another attempt has the lease and must keep it.
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
  const removed = [...(slow === false ? ['slow'] : []), ...(lease ? ['#lease'] : [])];
  const values = { ...(slow && { ':slow': true }), ...(lease && { ':until': lease.until }) };
  const write: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(id)),
      UpdateExpression: [
        ...(slow ? ['SET slow = :slow'] : []),
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

/** A block of permits to take. */
export type PermitBlock = {
  count: number;
  maxPerSecond: number;
  /** The time that `maxPerSecond` permits take, in milliseconds. */
  pacedMs: number;
  /** The present (Unix time, in ms). */
  now: number;
  /** How far ahead the first permit may be, and how far ahead permits can end at most; in milliseconds. */
  aheadMs: number;
  longestMs: number;
  /** The end of all permits, as it was read before. */
  permittedUntil?: number | undefined;
  /** The numbers of leases that nobody takes any more; they are removed. */
  unusedLeases?: readonly number[] | undefined;
};

/**
 * Takes the next permits of a webhook with a maximum of attempts in a second, which begin at the end of all permits or now. The
 * end is counted in microseconds, so that it adds up exactly. An end that is further ahead than any can be comes from a clock that
 * was ahead, and counts for nothing.
 *
 * When permits begin now, the write keeps the end of the permits before them as `permittedBefore`. If a clock steps by an hour and
 * back while workers wait for permits, the end that is set in between is over or counts for nothing. Then the next permits begin at
 * the end from before the first step.
 *
 * @returns the times of the permits (Unix times, in ms, with fractions); `undefined` if the first would be too far ahead, or the
 *   webhook is deleted or has another maximum by now
 */
export async function takePermits(
  { table }: TableContext,
  organization: Organization,
  id: string,
  { count, maxPerSecond, pacedMs, now, aheadMs, longestMs, permittedUntil, unusedLeases = [] }: PermitBlock,
): Promise<number[] | undefined> {
  const gap = Math.ceil((pacedMs * 1_000) / maxPerSecond);
  const length = count * gap;
  const earliest = now * 1_000;
  const latest = earliest + aheadMs * 1_000;
  const tooFar = earliest + (longestMs + clocksDifferMs) * 1_000;
  const removed = unusedLeases.length > 0 ? ` REMOVE ${unusedLeases.map(slowLeaseAttribute).join(', ')}` : '';
  const isOver = (end: number | undefined) => end === undefined || end <= earliest || end > tooFar;
  const over = (end: string) => `(attribute_not_exists(${end}) OR ${end} <= :earliest OR ${end} > :tooFar)`;
  const soon = (end: string) => `${end} > :earliest AND ${end} <= :latest`;
  let until = permittedUntil;
  let before: number | undefined;
  // Another worker may take permits between the read and the write, and once more after that.
  for (let tries = 0; tries < 3; tries++) {
    const last = [until, before].find((end) => !isOver(end));
    if (last !== undefined && last > latest) return undefined;
    const following = { ':length': length, ':latest': latest };
    const [set, condition, values] = !isOver(until)
      ? ['permittedUntil = permittedUntil + :length', soon('permittedUntil'), following]
      : last !== undefined
        ? [
            'permittedUntil = permittedBefore + :length, permittedBefore = permittedUntil',
            `${over('permittedUntil')} AND ${soon('permittedBefore')}`,
            { ...following, ':tooFar': tooFar },
          ]
        : [
            'permittedUntil = :next, permittedBefore = if_not_exists(permittedUntil, :earliest)',
            `${over('permittedUntil')} AND ${over('permittedBefore')}`,
            { ':next': earliest + length, ':tooFar': tooFar },
          ];
    let found: Item | undefined;
    const write: Write = {
      Update: {
        Key: keys.webhook(organization, ulidOf(id)),
        UpdateExpression: `SET ${set}${removed}`,
        ConditionExpression: `maxPerSecond = :max AND ${condition}`,
        ExpressionAttributeValues: { ':max': maxPerSecond, ':earliest': earliest, ...values },
        ReturnValues: 'UPDATED_NEW',
      },
      onConditionFailed: (item) => {
        found = item;
        return new Conflict();
      },
    };
    const taken = await transact(table, [write]).catch(ignoreConflict);
    if (taken) {
      const first = (taken.permittedUntil as number) - length;
      return Array.from({ length: count }, (_, nth) => (first + nth * gap) / 1_000);
    }
    if (found?.maxPerSecond !== maxPerSecond) return undefined;
    until = found.permittedUntil as number | undefined;
    before = found.permittedBefore as number | undefined;
  }
  return undefined;
}

/** The part of a context that booked times need. */
type BookingContext = TableContext & { clock: () => number };

/** Times to book, one after the other. */
export type BookedBlock = {
  count: number;
  /** The earliest time (Unix time, in ms). */
  earliest: number;
  /** The time until the next one that can be booked, in ms. */
  gapMs: number;
  /** The version of the webhook's pace to which the gap belongs; absent before its first change. */
  paceVersion?: number | undefined;
  /** The end of the booked times, as it was read before (Unix time, in ms). */
  bookedUntil?: number | undefined;
};

/**
 * Books the next times for attempts of a webhook, after all times that are booked.
 *
 * @returns the times (Unix times, in ms); `undefined` if the webhook is deleted, its pace has changed, or a clock that was ahead
 *   has booked, see `endTimesAhead`
 */
export async function bookTimes(
  { table, clock }: BookingContext,
  organization: Organization,
  id: string,
  { count, earliest, gapMs, paceVersion, bookedUntil = 0 }: BookedBlock,
): Promise<number[] | undefined> {
  const isSamePace = paceVersion === undefined ? 'attribute_not_exists(paceVersion)' : 'paceVersion = :pace';
  const isNotAhead = '(attribute_not_exists(latestBookingAt) OR latestBookingAt <= :latest)';
  const now = clock();
  const length = count * gapMs;
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
    if (!item) return undefined;
    const first = (item.bookedUntil as number) - length;
    return Array.from({ length: count }, (_, nth) => Math.floor(first + nth * gapMs));
  };
  const after = () => book('bookedUntil + :length', 'bookedUntil > :earliest', { ':length': length });
  const first = () =>
    book(':next', '(attribute_not_exists(bookedUntil) OR bookedUntil <= :earliest)', { ':next': earliest + length });
  // Another worker may book between the read and the first write, and once more after that.
  const [likely, other] = bookedUntil > earliest ? [after, first] : [first, after];
  return (await likely()) ?? (await other()) ?? (await likely());
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
