import { randomUUID } from 'node:crypto';
import type { TableContext } from './client.ts';
import type { Key } from './keys.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';

/** The lease of a request expires after this time, in milliseconds: no request takes longer. */
const requestLeaseMs = 30_000;

/** A lease as its item stores it: its random id, which only its holder knows, and its expiry (Unix time, in ms). */
export type Lease = { claim: string; leaseUntil: number };

/** Creates the lease of a request. */
export function createLease(now: number): Lease {
  return { claim: randomUUID(), leaseUntil: now + requestLeaseMs };
}

/** The condition of a write to an item whose lease has expired by `:now`. */
export const leaseExpired = (expiry = 'leaseUntil') => `${expiry} <= :now`;

/** The condition of a write to an item that has no lease, or whose lease has expired by `:now`. */
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
