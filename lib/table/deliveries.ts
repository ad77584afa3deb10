import { tableSchema } from '../contract/deployment.ts';
import type { Page } from '../contract/endpoint.ts';
import { ulidFrom, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { DeliveryRecord } from '../contract/webhooks.ts';
import type { Table } from './client.ts';
import {
  type Delivery,
  type DeliveryState,
  deliveryFrom,
  deliveryItem,
  deliveryKey,
  dueLanes,
  historyExpiry,
  historyStart,
  utcDays,
} from './delivery-items.ts';
import { type Overdue, openDueList } from './due.ts';
import { keys } from './keys.ts';
import { everything, listingWrites, readPage } from './listing.ts';
import { ignoreStale, Stale, transact, type Write } from './transact.ts';

/** Names a delivery. */
export type DeliveryReference = Pick<Delivery, 'organization' | 'webhookId' | 'id'>;

/** The attempt that was made: its record, and the moment of its end in milliseconds since 1970. */
export type Attempted = { record: DeliveryRecord; endedAt: number };

/** A webhook that another attempt has told of a later moment, or that is gone: it is left as it is. */
class Overtaken extends Error {}

/** The deliveries and their history. Every step is one conditional write (design §5). */
export function openDeliveryStore(table: Table) {
  const waiting = openDueList(table, dueLanes);

  return {
    /** Puts a delivery; where it is there already, tells what has become of it. */
    async put(delivery: Delivery, dueAt: string): Promise<DeliveryState> {
      let state = delivery.state;
      const write: Write = {
        Put: { Item: deliveryItem(delivery, dueAt), ConditionExpression: 'attribute_not_exists(pk)' },
        otherwise: (found) => {
          state = found?.state as DeliveryState;
          return new Stale();
        },
      };
      await transact(table, [write]).catch(ignoreStale);
      return state;
    },

    /**
     * Takes an attempt in hand until the lease ends, or answers `undefined`: it was made, is not due, is in another's
     * hand, or has been given up. The sweeper looks at it again when the lease ends.
     */
    async claim(
      reference: DeliveryReference,
      attempt: number,
      lease: { claim: string; now: string; until: string },
    ): Promise<Delivery | undefined> {
      const write: Write = {
        Update: {
          Key: deliveryKey(reference),
          UpdateExpression: 'SET claim = :claim, leaseUntil = :until, #dueAt = :until',
          ConditionExpression:
            '#state = :pending AND attempt = :attempt AND nextAttemptAt <= :now AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now)',
          ExpressionAttributeNames: { '#state': 'state', '#dueAt': tableSchema.dueIndex.sortKey },
          ExpressionAttributeValues: {
            ':claim': lease.claim,
            ':until': lease.until,
            ':now': lease.now,
            ':pending': 'pending',
            ':attempt': attempt,
          },
          ReturnValues: 'ALL_NEW',
        },
        otherwise: () => new Stale(),
      };
      const item = await transact(table, [write]).catch(ignoreStale);
      return item && deliveryFrom(item);
    },

    /**
     * Ends a delivery that this worker has in hand: its state, the attempt's record and count, and the webhook's
     * `lastDeliveryAt` unless that is later already, together.
     *
     * @throws `Stale` when another worker has it in hand by now
     */
    async end(delivery: Delivery, state: Exclude<DeliveryState, 'pending'>, attempted: Attempted): Promise<void> {
      const writes = [endWrite(delivery, state), ...recordWrites(delivery, attempted)];
      try {
        await transact(table, [...writes, lastDeliveryWrite(delivery, attempted)]);
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
        await transact(table, writes);
      }
    },

    /** Ends a delivery without an attempt, for a reason. */
    async skip(delivery: Delivery, reason: string): Promise<void> {
      await transact(table, [endWrite(delivery, 'skipped', reason)]).catch(ignoreStale);
    },

    due: waiting.due,

    /** Lists a delivery for a later moment and answers it as it is now; `undefined` where it has moved on by itself. */
    async postpone(overdue: Overdue, later: string): Promise<Delivery | undefined> {
      const item = await waiting.postpone(overdue, later);
      return item && deliveryFrom(item);
    },

    /** A page of a webhook's attempts of the last 90 days, newest first, and their exact number. */
    async history(
      organization: Organization,
      webhookId: string,
      page: { limit: number; offset: number },
      now: number,
    ): Promise<Page<DeliveryRecord>> {
      const list = keys.attemptScope(organization, ulidOf(webhookId));
      const { rows, total } = await readPage(table, { list, ...page, epochs: utcDays, since: historyStart(now) });
      return { items: rows.map((row) => row.entry as DeliveryRecord), total };
    },
  };
}

export type DeliveryStore = ReturnType<typeof openDeliveryStore>;

function endWrite(delivery: Delivery, state: DeliveryState, reason?: string): Write {
  return {
    Update: {
      Key: deliveryKey(delivery),
      UpdateExpression: `SET #state = :state${reason ? ', reason = :reason' : ''} REMOVE claim, leaseUntil, #due, #dueAt`,
      ConditionExpression: 'claim = :claim',
      ExpressionAttributeNames: {
        '#state': 'state',
        '#due': tableSchema.dueIndex.partitionKey,
        '#dueAt': tableSchema.dueIndex.sortKey,
      },
      ExpressionAttributeValues: { ':state': state, ':claim': delivery.claim, ...(reason && { ':reason': reason }) },
    },
    otherwise: () => new Stale(),
  };
}

/** Attempts stand in the order of their ends, those of one millisecond in the order of their ids. */
function orderOf(endedAt: number, id: string): string {
  return ulidFrom(endedAt, new Uint8Array(10)).slice(0, 10) + ulidOf(id);
}

function recordWrites({ organization, webhookId }: Delivery, { record, endedAt }: Attempted): Write[] {
  const list = keys.attemptScope(organization, ulidOf(webhookId));
  const standing = { ulid: orderOf(endedAt, record.id), cell: everything, lists: [list], entry: record };
  return listingWrites(undefined, standing, { epochs: utcDays, expiresAt: historyExpiry(endedAt) });
}

function lastDeliveryWrite({ organization, webhookId }: Delivery, { record }: Attempted): Write {
  return {
    Update: {
      Key: keys.webhook(organization, ulidOf(webhookId)),
      UpdateExpression: 'SET lastDeliveryAt = :at',
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(lastDeliveryAt) OR lastDeliveryAt < :at)',
      ExpressionAttributeValues: { ':at': record.deliveredAt },
    },
    otherwise: () => new Overtaken(),
  };
}
