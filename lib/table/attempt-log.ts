import { inBatches } from '../batching/in-batches.ts';
import type { EventName } from '../contract/events.ts';
import { timestamp, ulidOf } from '../contract/ids.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import { closedAfterMs } from './attempt-counts.ts';
import { type Attempt, type AttemptPlace, attemptItem, attemptKey, retryOf } from './attempt-items.ts';
import { createBatchedPut } from './batch-writes.ts';
import type { Table } from './client.ts';
import { historyExpiry } from './history-days.ts';
import { type Key, keys } from './keys.ts';
import { isDoneByOldVersion } from './old-deliveries.ts';
import { batchReadLimit, getEach } from './reads.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';
import { type Target, targetFrom } from './webhooks.ts';
import type { Item, Write } from './write.ts';

/** What an attempt needs to know before it is made. */
export type Found = {
  /** Whether the log has it, so that its message is a copy. */
  made: boolean;
  /** Whether the failed attempt before it was made twice, and its row now says otherwise what follows. */
  superseded: boolean;
  /** Absent: the webhook is deleted. */
  target?: Target | undefined;
  /** What to tell, `data` as JSON. Absent: its 90 days are over. */
  told?: { event: EventName; data: string } | undefined;
};

/**
 * An attempt that begins so long after it was due, in milliseconds, stands in the log at its beginning. So nothing is
 * written to a part of the log that is closed: the clocks of two functions differ by less than what is left.
 */
export const lateMs = closedAfterMs - 60_000;

/** How long an attempt takes at most, in milliseconds: 10 s for the post, and less than 20 s for its row. */
const attemptMs = 30_000;

/**
 * Until when an attempt that is a little late has to wait: another worker may have begun it in time, where it stands at
 * another moment of the log, and be at it still. `undefined` for one that need not.
 *
 * @param at the moment at which the other one stands; ISO 8601
 * @param now milliseconds since 1970, as is the result
 */
export function undecidedUntil(at: string, now: number): number | undefined {
  const lateFrom = Date.parse(at) + lateMs;
  return now >= lateFrom && now < lateFrom + attemptMs ? lateFrom + attemptMs : undefined;
}

/** What is to become of an attempt: begun, to be begun from a moment on, or made before. */
export type Beginning = { place: AttemptPlace } | { notBefore: number } | 'made';

/**
 * Opens the attempt log: a row for each attempt, under a key that is made of its delivery and its number. The state of a
 * delivery is what its rows say: no attempt yet, failed with another one due, delivered, or given up.
 */
export function openAttemptLog(table: Table) {
  const read = inBatches(
    batchReadLimit,
    (keys: Key[]) => getEach(table, keys),
    ({ pk, sk }) => `${pk} ${sk}`,
  );
  const put = createBatchedPut(table);

  return {
    /** Reads what an attempt needs to know, for all messages of the moment at once. */
    async find(message: DeliveryMessage): Promise<Found> {
      const { organization, webhookId, attempt, dueAt } = message;
      const listing = listingKey(message);
      const [webhook, secret, source, row, before] = await Promise.all([
        read(keys.webhook(organization, ulidOf(webhookId))),
        read(keys.webhookSecret(organization, ulidOf(webhookId))),
        read(sourceKey(message)),
        // One for a slow webhook is often late, and takes a lease before it is known to be made.
        message.slow ? rowOf(message) : read(attemptKey(placeOf(message))),
        listing && read(listing),
      ]);
      const doneBefore = source && !message.eventId && isDoneByOldVersion(source, attempt);
      return {
        made: row !== undefined || doneBefore === true,
        superseded: listing !== undefined && before?.nextAttemptAt !== dueAt,
        target: targetFrom(webhook, secret),
        told: source as Found['told'],
      };
    },

    /** Writes attempts down; one that is there already is written over. */
    put: (attempt: Attempt): Promise<unknown> => put(attemptItem(attempt)),

    /**
     * Says where in the log an attempt stands that begins now: at the moment when it was due. One that is late stands at its
     * beginning, which the first worker that comes to it says for all: a copy of the message leads to the same row. After a
     * worker that was lost it begins anew.
     *
     * @param now milliseconds since 1970
     */
    async begin(message: DeliveryMessage, now: number): Promise<Beginning> {
      const onTime = placeOf(message);
      if (now < Date.parse(onTime.at) + lateMs) return { place: onTime };
      const notBefore = undecidedUntil(message.dueAt, now);
      if (notBefore) return { notBefore };
      const [row, late] = await getEach(table, [attemptKey(onTime), lateKey(message)]);
      if (row) return 'made';
      const begun = (late?.at as string | undefined) ?? (await beginLate(message, timestamp(now)));
      if (begun === undefined) return { place: placeOf(message, timestamp(now)) };
      const before = placeOf(message, begun);
      if ((await getEach(table, [attemptKey(before)]))[0]) return 'made';
      if (now < Date.parse(begun) + lateMs) return { place: before };
      const notAnew = undecidedUntil(begun, now);
      if (notAnew) return { notBefore: notAnew };
      // Another worker that has just begun it anew is given way to, by the same rule.
      const again = await beginLate(message, timestamp(now), begun);
      return { place: placeOf(message, again ?? timestamp(now)) };
    },

    /** The next attempt of a delivery that was not made, by its first; `undefined` where the delivery has ended. */
    async next(first: DeliveryMessage): Promise<DeliveryMessage | undefined> {
      let message: DeliveryMessage | undefined = first;
      while (message) {
        const row: Item | undefined = await rowOf(message);
        if (!row) return message;
        message = retryOf(row);
      }
      return undefined;
    },

    /** Takes what has listed an attempt for the sweeper off its list: the attempt was made, or never will be. */
    async unlist(message: DeliveryMessage): Promise<void> {
      const listed = listingKey(message) ?? (message.eventId === undefined ? sourceKey(message) : undefined);
      if (listed) await unlist(table, listed);
    },
  };

  /** The row of an attempt, wherever it stands. */
  async function rowOf(message: DeliveryMessage): Promise<Item | undefined> {
    const [row, late] = await Promise.all([read(attemptKey(placeOf(message))), read(lateKey(message))]);
    return row ?? (late && read(attemptKey(placeOf(message, late.at as string))));
  }

  /** Says when a late attempt was begun, unless another worker has said so; what that one said is returned then. */
  async function beginLate(message: DeliveryMessage, at: string, instead?: string): Promise<string | undefined> {
    let found: string | undefined;
    const write: Write = {
      Put: {
        Item: { ...lateKey(message), at, [tableSchema.expiry]: historyExpiry(Date.parse(at)) },
        ConditionExpression: instead ? '#at = :instead' : 'attribute_not_exists(pk)',
        ...(instead && {
          ExpressionAttributeNames: { '#at': 'at' },
          ExpressionAttributeValues: { ':instead': instead },
        }),
      },
      onConditionFailed: (item) => {
        found = item?.at as string | undefined;
        return new Conflict();
      },
    };
    await transact(table, [write]).catch(ignoreConflict);
    return found;
  }
}

export type AttemptLog = ReturnType<typeof openAttemptLog>;

/** Where an attempt stands in the log: at the moment when it was due, unless it is late. */
export function placeOf(
  { organization, webhookId, deliveryId, attempt, dueAt }: DeliveryMessage,
  at = dueAt,
): AttemptPlace {
  return { organization, webhookId, deliveryId, attempt, at };
}

/** Where the event of a delivery is kept. */
function sourceKey({ organization, webhookId, deliveryId, eventId }: DeliveryMessage): Key {
  return eventId === undefined
    ? keys.oldDelivery(organization, ulidOf(webhookId), ulidOf(deliveryId))
    : keys.event(organization, ulidOf(eventId));
}

/** What a retry says that it is listed by. */
function listingKey({ organization, webhookId, listedBy }: DeliveryMessage): Key | undefined {
  return listedBy === undefined
    ? undefined
    : { pk: keys.attemptScope(organization, ulidOf(webhookId)).rows, sk: listedBy };
}

function lateKey({ organization, webhookId, deliveryId, attempt }: DeliveryMessage): Key {
  return keys.lateAttempt(organization, ulidOf(webhookId), ulidOf(deliveryId), attempt);
}

/** Takes an item off the sweeper's list. */
export async function unlist(table: Table, Key: Key): Promise<void> {
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const write: Write = {
    Update: {
      Key,
      UpdateExpression: 'REMOVE #due, #dueAt',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}
