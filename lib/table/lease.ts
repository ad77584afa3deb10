import { randomUUID } from 'node:crypto';
import { timestamp } from '../contract/ids.ts';
import type { TableContext } from './access/client.ts';
import { clocksDifferMs, isTooFarAhead } from './access/clocks.ts';
import type { Key } from './access/keys.ts';
import { Conflict, ignoreConflict, transact } from './access/transact.ts';

/**
 * A lease is the exclusive right to work on something until it expires. The reader of a lease decides by the clock whether it has
 * expired. Nothing has to remove it. All lengths and the rule of expiry are here (docs/architecture.md#leases).
 */

/** The lease of a request expires after this time, in milliseconds: no request takes longer. */
const requestLeaseMs = 30_000;

/** How long the lease of an execution lasts without a renewal, in milliseconds. */
export const executionLeaseMs = 30_000;

/** The lease of an attempt to a slow webhook, in milliseconds: 10 s for the request, and time to write the result. */
export const attemptLeaseMs = 20_000;

/** A lease as its item stores it: its random id, which only its holder knows, and its expiry (Unix time, in ms). */
export type Lease = { claim: string; leaseUntil: number };

/** Creates the lease of a request. */
export function createLease(now: number): Lease {
  return { claim: randomUUID(), leaseUntil: now + requestLeaseMs };
}

/**
 * Returns whether a lease has expired. So has one that ends later than its rule can set: a clock that was ahead has set the
 * expiry. If its holder still runs, the id of the lease protects it.
 *
 * @param expiry Unix time in ms, like `now`
 * @param lengthMs the length of such a lease, in milliseconds
 */
export function isLeaseOver(expiry: number, now: number, lengthMs = requestLeaseMs): boolean {
  return expiry <= now || isTooFarAhead(expiry, now, lengthMs);
}

/**
 * Returns when another worker looks whether a lease is free (Unix time, in ms). An expiry of a clock that was ahead counts as
 * the expiry of a lease from now: by then, a worker that still runs has renewed its lease by the right clock.
 *
 * @param expiry Unix time in ms, like `now`
 * @param lengthMs the length of such a lease, in milliseconds
 */
export function leaseLookedAt(expiry: number, now: number, lengthMs: number): number {
  return isTooFarAhead(expiry, now, lengthMs) ? now + lengthMs : expiry;
}

/** Returns the values of `leaseExpired` and `leaseFree`: the present, and the expiry of a lease that is taken now. */
export function leaseTimes(now: number, until: number): { ':now': number; ':latest': number } {
  return { ':now': now, ':latest': until + clocksDifferMs };
}

/** The same for items that store the expiry in ISO 8601. */
export function leaseTimestamps(now: string, until: string): { ':now': string; ':latest': string } {
  return { ':now': now, ':latest': timestamp(Date.parse(until) + clocksDifferMs) };
}

/** The condition of a write to an item whose lease has expired; see `isLeaseOver`. */
export const leaseExpired = (expiry = 'leaseUntil') => `(${expiry} <= :now OR ${expiry} > :latest)`;

/** The condition of a write to an item that has no lease, or whose lease has expired. */
export const leaseFree = (expiry = 'leaseUntil') => `(attribute_not_exists(${expiry}) OR ${leaseExpired(expiry)})`;

/** The condition of a write by the lease holder; `:claim` is the id of the lease. */
export const leaseHeld = 'claim = :claim';

/** Deletes an item that is a lease; does nothing if another holder has leased it since. */
export async function deleteLease({ table }: TableContext, Key: Key, leaseId: string): Promise<void> {
  const write = {
    Delete: { Key, ConditionExpression: leaseHeld, ExpressionAttributeValues: { ':claim': leaseId } },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}
