import { timeOf, ulidOf } from '../../contract/ids.ts';
import { ascending } from '../../contract/texts/order.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { BatchingContext } from '../../table/access/batchers.ts';
import { readEvent } from '../../table/events/event-log.ts';
import { graceMs } from '../../table/lists/due.ts';
import { findRowOf, readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import {
  isRecoveredBy,
  type RecoveryProgress,
  recoveredMessage,
  type StoredRecovery,
  slotOf,
} from '../../table/recoveries/recoveries.ts';

/**
 * Returns how many attempts of a recovery were made since its progress was stored, and the attempts whose messages are lost.
 *
 * @param until when it is read, in the future after a restart with empty queues (Unix time, in ms)
 */
export async function readMade(
  context: BatchingContext,
  recovery: StoredRecovery,
  until: number,
): Promise<Pick<RecoveryProgress, 'confirmed' | 'delivered' | 'failed'> & { lost: DeliveryMessage[] }> {
  const { organization, webhookId, confirmed, position } = recovery;
  const range = { from: timeOf(confirmed), to: timeOf(position) };
  const found = await readDeliveryRows(context, organization, webhookId, range);
  const stored = [...found.redeliveries.values()]
    .flat()
    .filter((item) => isRecoveredBy(recovery, item))
    .map((item) => ({ message: recoveredMessage(item), slotAt: slotOf(item) }))
    .filter(({ message }) => eventOf(message) > confirmed && eventOf(message) <= position)
    .sort((a, b) => ascending(eventOf(a.message), eventOf(b.message)));
  const messages = stored.map(({ message }) => message);
  const rows = await Promise.all(messages.map((message) => findRowOf(context, found, message)));
  const overdue = messages.filter((_, at) => !rows[at] && (stored[at]?.slotAt ?? 0) + graceMs <= until);
  // An event that has expired in the meantime can no longer be sent: it counts as failed.
  const kept = await Promise.all(overdue.map((message) => readEvent(context, organization, message.eventId as string)));
  const expired = new Set(overdue.filter((_, at) => !kept[at]));
  const open = messages.findIndex((message, at) => !rows[at] && !expired.has(message));
  const ended = open === -1 ? messages.length : open;
  const delivered = rows.slice(0, ended).filter((row) => row && row.error === undefined).length;
  return {
    // The position before the first open attempt. Without one, the position itself.
    confirmed: open === -1 ? position : ended === 0 ? confirmed : eventOf(messages[ended - 1] as DeliveryMessage),
    delivered: recovery.delivered + delivered,
    failed: recovery.failed + ended - delivered,
    lost: overdue.filter((message) => !expired.has(message)),
  };
}

/** Returns the ULID of the event of an attempt. */
const eventOf = ({ eventId }: DeliveryMessage) => ulidOf(eventId as string);
