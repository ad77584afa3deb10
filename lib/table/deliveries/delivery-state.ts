import { ulidOf } from '../../contract/ids.ts';
import type { DeliveryState } from '../../contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { BatchingContext } from '../access/batchers.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import { isPausedAt, type Pausable } from '../webhooks/pauses.ts';
import { retryOf, uniqueRows } from './attempt-items.ts';
import { readAttemptsFrom } from './attempt-log.ts';

/** The attempts of a delivery. */
export type DeliveryAttempts = {
  /** The rows of the attempts that were made, the first one first. */
  rows: Item[];
  /**
   * The message of the next attempt, which is due or running; absent if the delivery has ended. Without rows it is the
   * message of the first attempt, whether it will be made or not.
   */
  next?: DeliveryMessage;
  /** Whether the next attempt has an item of its own: a caller requested it after the end of the delivery. */
  requested: boolean;
};

/** Returns all attempts of a delivery with its redeliveries, strongly consistent, from the message of its first attempt. */
export async function readDeliveryAttempts(
  context: BatchingContext,
  first: DeliveryMessage,
): Promise<DeliveryAttempts> {
  const { organization, webhookId, deliveryId } = first;
  const { pk, sk } = keys.redelivery(organization, ulidOf(webhookId), ulidOf(deliveryId), 0);
  const range = { pk, from: sk, to: `${sk.slice(0, sk.lastIndexOf('#'))}#~` };
  const newestFirst = await readRange(context.table, range);
  const redeliveries = newestFirst.toReversed().flatMap((item) => retryOf(item) ?? []);
  return attemptsOf(await Promise.all([first, ...redeliveries].map((message) => readAttemptsFrom(context, message))));
}

/**
 * Returns the attempts of a delivery from its parts: the rows from the first attempt on, then those from each redelivery on,
 * and the message of the attempt without a row that follows them, if there is one.
 */
export function attemptsOf(parts: readonly { rows: Item[]; next?: DeliveryMessage | undefined }[]): DeliveryAttempts {
  // A redelivery is requested after the end of the delivery, so only the last part can have a next attempt.
  const last = parts.at(-1);
  const requested = parts.length > 1 && last?.rows.length === 0;
  return { rows: uniqueRows(parts.flatMap(({ rows }) => rows)), ...(last?.next && { next: last.next }), requested };
}

/** Returns whether an attempt of a delivery was made, or a caller or a recovery has requested one. */
export function isBegun({ rows, requested }: DeliveryAttempts): boolean {
  return rows.length > 0 || requested;
}

/**
 * Returns the state of a delivery:
 *
 * - `pending`: the first attempt, or a redelivery, is due or running.
 * - `retrying`: the last attempt failed, and its retry is due later or running.
 * - `delivered`: an attempt succeeded, and no other is due. The failure of a later redelivery does not change it.
 * - `exhausted`: all attempts failed, and no other is due.
 * - `skipped`: the event is of a time when the webhook was paused, and no attempt was made.
 *
 * @param webhook the webhook of the delivery, with its pauses
 * @param eventMs the time of the event by the clock of the log (Unix time, in ms), see `subscribedTimeOf`
 */
export function deliveryStateOf(
  { rows, next, requested }: DeliveryAttempts,
  webhook: Pausable,
  eventMs: number,
): DeliveryState {
  if (requested) return 'pending';
  if (rows.length === 0) return isPausedAt(webhook, eventMs) ? 'skipped' : 'pending';
  if (next) return 'retrying';
  return rows.some(({ error }) => error === undefined) ? 'delivered' : 'exhausted';
}
