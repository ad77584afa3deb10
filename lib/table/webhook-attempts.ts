import { inBatches } from '../batching/in-batches.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { ignoreStale, Stale, transact, type Write } from './transact.ts';

/** What an attempt says of the receiver of its webhook. */
export type AttemptNote = {
  organization: Organization;
  webhookId: string;
  /** The end of the attempt; ISO 8601. */
  deliveredAt: string;
  /** Whether the receiver has shown itself slow, or quick again; absent: neither. */
  slow?: boolean | undefined;
  /** The number of the webhook's lease on slow attempts that this one had: it is free again. */
  slowLease?: number | undefined;
};

/** The attribute of a webhook's item that holds the expiry of one of the leases on its slow attempts. */
const slowLeaseAttribute = (number: number) => `slowLease${number}`;

/** What attempts write to the item of their webhook. Apart from the other writes, which the functions of the API carry. */
export function openWebhookAttempts(table: Table) {
  const note = inBatches(Number.POSITIVE_INFINITY, async (notes: AttemptNote[]): Promise<undefined[]> => {
    const byWebhook = Map.groupBy(notes, ({ organization, webhookId }) => `${organization} ${webhookId}`);
    await Promise.all([...byWebhook.values()].map((of) => transact(table, [noteWrite(of)]).catch(ignoreStale)));
    return [];
  });

  return {
    /**
     * Notes the end of an attempt on its webhook. Those of one webhook at the same moment are one write. Does nothing
     * where a later attempt has been noted, or the webhook is deleted.
     */
    note: (attempt: AttemptNote): Promise<unknown> => note(attempt),

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

export type WebhookAttempts = ReturnType<typeof openWebhookAttempts>;

/** What a webhook's own item tells of its newest attempt. */
function noteWrite(notes: readonly AttemptNote[]): Write {
  const { organization, webhookId } = notes[0] as AttemptNote;
  const at = notes
    .map(({ deliveredAt }) => deliveredAt)
    .toSorted()
    .at(-1);
  const slow = notes.some((note) => note.slow === true);
  const quick = !slow && notes.some((note) => note.slow === false);
  const leases = notes.flatMap(({ slowLease }) => (slowLease === undefined ? [] : [slowLeaseAttribute(slowLease)]));
  const removed = [...(quick ? ['slow'] : []), ...new Set(leases)];
  const pace = (slow ? ', slow = :slow' : '') + (removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : '');
  return {
    Update: {
      Key: keys.webhook(organization, ulidOf(webhookId)),
      UpdateExpression: `SET lastDeliveryAt = :at${pace}`,
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(lastDeliveryAt) OR lastDeliveryAt < :at)',
      ExpressionAttributeValues: { ':at': at, ...(slow && { ':slow': true }) },
    },
    // A later attempt was noted, or the webhook is gone: it is left as it is. A lease then expires.
    otherwise: () => new Stale(),
  };
}
