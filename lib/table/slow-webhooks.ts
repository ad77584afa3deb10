import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { ignoreStale, Stale, transact, type Write } from './transact.ts';

/** The attribute of a webhook's item that holds the expiry of one of the leases on its slow attempts. */
export function slowLeaseAttribute(number: number): string {
  return `slowLease${number}`;
}

/** What is written of webhooks with slow receivers. Apart from the other writes, which the functions of the API carry. */
export function openSlowWebhooks(table: Table) {
  return {
    /** Says that a webhook's receiver is slow. Does nothing where the webhook is deleted. */
    async markSlow(organization: Organization, id: string): Promise<void> {
      const write: Write = {
        Update: {
          Key: keys.webhook(organization, ulidOf(id)),
          UpdateExpression: 'SET slow = :slow',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':slow': true },
        },
        otherwise: () => new Stale(),
      };
      await transact(table, [write]).catch(ignoreStale);
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
        otherwise: () => new Stale(),
      };
      return (await transact(table, [write]).catch(ignoreStale)) !== undefined;
    },
  };
}

export type SlowWebhooks = ReturnType<typeof openSlowWebhooks>;
