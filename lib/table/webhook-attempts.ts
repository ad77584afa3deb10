import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';
import type { Target } from './webhooks.ts';
import type { Write } from './write.ts';

/** What the end of an attempt changes of its webhook's pace. */
export type Pace = {
  /** Whether the receiver has shown itself slow, or quick again; absent: neither. */
  slow?: boolean | undefined;
  /** The number of the webhook's lease on slow attempts that this one had: it is free again. */
  slowLease?: number | undefined;
};

/** The attribute of a webhook's item that holds the expiry of one of the leases on its slow attempts. */
const slowLeaseAttribute = (number: number) => `slowLease${number}`;

/** What attempts write to the item of their webhook. Apart from the other writes, which the functions of the API carry. */
export function openWebhookAttempts(table: Table) {
  return {
    /** Writes the pace of a webhook after an attempt, where that changes it. Does nothing where the webhook is deleted. */
    async pace(organization: Organization, id: string, before: Pick<Target, 'slow'>, pace: Pace): Promise<void> {
      const { slow, slowLease } = pace;
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
        // A lease of a webhook that is deleted is gone with it.
        onConditionFailed: () => new Conflict(),
      };
      await transact(table, [write]).catch(ignoreConflict);
    },

    /** Says that a webhook's receiver is slow. Does nothing where the webhook is deleted. */
    async markSlow(organization: Organization, id: string): Promise<void> {
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
    },

    /**
     * Takes one of the leases on a webhook's slow attempts, until it expires or the attempt's end returns it.
     *
     * @returns whether it was free and the webhook is not deleted
     */
    async leaseSlowAttempt(
      organization: Organization,
      id: string,
      { number, now, until }: { number: number; now: string; until: string },
    ): Promise<boolean> {
      const write: Write = {
        Update: {
          Key: keys.webhook(organization, ulidOf(id)),
          UpdateExpression: 'SET #lease = :until',
          ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(#lease) OR #lease <= :now)',
          ExpressionAttributeNames: { '#lease': slowLeaseAttribute(number) },
          ExpressionAttributeValues: { ':until': until, ':now': now },
          ReturnValues: 'UPDATED_NEW',
        },
        onConditionFailed: () => new Conflict(),
      };
      return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
    },
  };
}

export type WebhookAttempts = ReturnType<typeof openWebhookAttempts>;
