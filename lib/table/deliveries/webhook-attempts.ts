import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../client.ts';
import { keys } from '../keys.ts';
import { leaseFree } from '../lease.ts';
import { Conflict, ignoreConflict, transact } from '../transact.ts';
import type { Write } from '../write.ts';
import type { Target } from './webhooks.ts';

/**
 * The writes of attempts to the item of their webhook. They are not in `webhooks.ts`, because the functions of the API
 * need none of them.
 */

/** The changes of a webhook's item at the end of an attempt. */
export type Pace = {
  /** Whether the attempt has shown that the receiver is slow, or that it is quick; absent: neither. */
  slow?: boolean | undefined;
  /** The number of the lease on slow attempts that the attempt had, and that it returns. */
  slowLease?: number | undefined;
};

/** Returns the attribute that holds the expiry of a lease on slow attempts. */
const slowLeaseAttribute = (number: number) => `slowLease${number}`;

/** Updates the pace of a webhook after an attempt. Writes nothing if it stays the same or the webhook is deleted. */
export async function updatePace(
  { table }: TableContext,
  organization: Organization,
  id: string,
  before: Pick<Target, 'slow'>,
  { slow, slowLease }: Pace,
): Promise<void> {
  const isNew = slow !== undefined && slow !== before.slow;
  const removed = [
    ...(isNew && !slow ? ['slow'] : []),
    ...(slowLease === undefined ? [] : [slowLeaseAttribute(slowLease)]),
  ];
  if (!isNew && removed.length === 0) return;
  const marked = isNew && slow;
  const write: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(id)),
      UpdateExpression: [
        ...(marked ? ['SET slow = :slow'] : []),
        ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
      ].join(' '),
      ConditionExpression: 'attribute_exists(pk)',
      ...(marked && { ExpressionAttributeValues: { ':slow': true } }),
    },
    // The leases of a deleted webhook are deleted with it.
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
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
      ExpressionAttributeValues: { ':until': until, ':now': now },
      ReturnValues: 'UPDATED_NEW',
    },
    onConditionFailed: () => new Conflict(),
  };
  return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
}
