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
  waitingStates,
} from './delivery-items.ts';
import { type Overdue, openDueList } from './due.ts';
import { keys } from './keys.ts';
import { everything, listingWrites, readPage } from './listing.ts';
import { slowLeaseAttribute } from './slow-webhooks.ts';
import { ignoreStale, Stale, transact, type Write } from './transact.ts';

/** Names a delivery. */
export type DeliveryReference = Pick<Delivery, 'organization' | 'webhookId' | 'id'>;

/** Names the attempts of a webhook. */
type Attempts = Pick<Delivery, 'organization' | 'webhookId'>;

/** What an attempt in hand comes to: the worker's, or early, so that its wake-up has to be sent on. */
export type Claim = { claimed: Delivery } | { early: Delivery } | undefined;

/** What follows an attempt: an end, or the next attempt, listed for the sweeper from `dueAt` on. */
export type Next =
  | { state: 'delivered' | 'exhausted' }
  | { state: 'retrying'; attempt: number; nextAttemptAt: string; dueAt: string };

/** The attempt that was made: its record, and the moment of its end in milliseconds since 1970. */
export type Attempted = {
  record: DeliveryRecord;
  endedAt: number;
  /** Whether the receiver has shown itself slow, or quick again; absent: neither. */
  slow?: boolean | undefined;
  /** The number of the webhook's lease on slow attempts that this one had: it is free again. */
  slowLease?: number | undefined;
};

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
     * Takes an attempt in hand until the lease ends. Answers `early` where it is not due yet, and `undefined` where it
     * was made, is in another's hand, or has been given up. It stays listed for the sweeper as it was, since to move it
     * there would be two more writes of each delivery: where its worker is lost, it is overdue like one whose wake-up is.
     */
    async claim(
      reference: DeliveryReference,
      attempt: number,
      lease: { claim: string; now: string; until: string },
    ): Promise<Claim> {
      let claim: Claim;
      const write: Write = {
        Update: {
          Key: deliveryKey(reference),
          UpdateExpression: 'SET claim = :claim, leaseUntil = :until',
          ConditionExpression:
            '#state IN (:pending, :retrying) AND attempt = :attempt AND nextAttemptAt <= :now AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now)',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: {
            ':claim': lease.claim,
            ':until': lease.until,
            ':now': lease.now,
            ':pending': 'pending',
            ':retrying': 'retrying',
            ':attempt': attempt,
          },
          ReturnValues: 'ALL_NEW',
        },
        otherwise: (found) => {
          const delivery = found && deliveryFrom(found);
          if (delivery && waits(delivery) && delivery.attempt === attempt && delivery.nextAttemptAt > lease.now)
            claim = { early: delivery };
          // The client's own second try, after an answer that was lost, finds what the first has written.
          else if (delivery?.claim === lease.claim) claim = { claimed: delivery };
          return new Stale();
        },
      };
      const item = await transact(table, [write]).catch(ignoreStale);
      return item ? { claimed: deliveryFrom(item) } : claim;
    },

    /**
     * Writes down the attempt of a delivery that this worker has in hand, with what follows it.
     *
     * @throws `Stale` when another worker has it in hand by now
     */
    async end(delivery: Delivery, next: Next, attempted: Attempted): Promise<void> {
      await record(delivery, attempted, [nextWrite(delivery, next)]);
    },

    /** Ends a delivery without an attempt, for a reason. */
    async skip(delivery: Delivery, reason: string): Promise<void> {
      await transact(table, [skipWrite(delivery, reason)]).catch(ignoreStale);
    },

    due: waiting.due,

    /** Lists a delivery for a later moment and answers it as it is now; `undefined` where it has moved on by itself. */
    async postpone(overdue: Overdue, later: string): Promise<Delivery | undefined> {
      const item = await waiting.postpone(overdue, later);
      return item && deliveryFrom(item);
    },

    record,

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

  /**
   * Writes down an attempt, and with it, or not at all, what `also` says. A test's belongs to no delivery.
   *
   * What the webhook tells of it is written before and apart: in one transaction all attempts of a webhook would
   * conflict over its item. Whoever dies in between has told the truth, for the attempt was made.
   */
  async function record(of: Attempts, attempted: Attempted, also: readonly Write[]): Promise<void> {
    await transact(table, [lastAttemptWrite(of, attempted)]).catch(ignoreStale);
    await transact(table, [...also, ...recordWrites(of, attempted)]);
  }
}

export type DeliveryStore = ReturnType<typeof openDeliveryStore>;

function waits({ state }: Delivery): boolean {
  return waitingStates.some((waiting) => waiting === state);
}

const { partitionKey, sortKey } = tableSchema.dueIndex;
const waitingNames = { '#state': 'state', '#dueAt': sortKey };
const endedNames = { ...waitingNames, '#due': partitionKey };

/** A write to a delivery that is in hand, and out of it with the write. */
function heldWrite(
  delivery: Delivery,
  { set, remove = '' }: { set: string; remove?: string },
  ExpressionAttributeNames: Record<string, string>,
  values: Record<string, unknown>,
): Write {
  return {
    Update: {
      Key: deliveryKey(delivery),
      UpdateExpression: `SET ${set} REMOVE claim, leaseUntil${remove}`,
      ConditionExpression: 'claim = :claim',
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ':claim': delivery.claim, ...values },
    },
    otherwise: () => new Stale(),
  };
}

/** An end leaves the sweeper's index too. */
const endWrite = (delivery: Delivery, set: string, values: Record<string, unknown>) =>
  heldWrite(delivery, { set, remove: ', #due, #dueAt' }, endedNames, values);

function nextWrite(delivery: Delivery, next: Next): Write {
  if (next.state !== 'retrying') return endWrite(delivery, '#state = :state', { ':state': next.state });
  return heldWrite(
    delivery,
    { set: '#state = :state, attempt = :attempt, nextAttemptAt = :at, #dueAt = :dueAt' },
    waitingNames,
    { ':state': next.state, ':attempt': next.attempt, ':at': next.nextAttemptAt, ':dueAt': next.dueAt },
  );
}

function skipWrite(delivery: Delivery, reason: string): Write {
  return endWrite(delivery, '#state = :state, reason = :reason', { ':state': 'skipped', ':reason': reason });
}

/** Attempts stand in the order of their ends, those of one millisecond in the order of their ids. */
function orderOf(endedAt: number, id: string): string {
  return ulidFrom(endedAt, new Uint8Array(10)).slice(0, 10) + ulidOf(id);
}

function recordWrites({ organization, webhookId }: Attempts, { record, endedAt }: Attempted): Write[] {
  const list = keys.attemptScope(organization, ulidOf(webhookId));
  const standing = { ulid: orderOf(endedAt, record.id), cell: everything, lists: [list], entry: record };
  return listingWrites(undefined, standing, { epochs: utcDays, expiresAt: historyExpiry(endedAt) });
}

/** What a webhook's own item tells of its newest attempt. */
function lastAttemptWrite({ organization, webhookId }: Attempts, { record, slow, slowLease }: Attempted): Write {
  const removed = [
    ...(slow === false ? ['slow'] : []),
    ...(slowLease === undefined ? [] : [slowLeaseAttribute(slowLease)]),
  ];
  const pace = (slow ? ', slow = :slow' : '') + (removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : '');
  return {
    Update: {
      Key: keys.webhook(organization, ulidOf(webhookId)),
      UpdateExpression: `SET lastDeliveryAt = :at${pace}`,
      ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(lastDeliveryAt) OR lastDeliveryAt < :at)',
      ExpressionAttributeValues: { ':at': record.deliveredAt, ...(slow && { ':slow': true }) },
    },
    // Another attempt has told of a later moment, or the webhook is gone: it is left as it is. A lease then expires.
    otherwise: () => new Stale(),
  };
}
