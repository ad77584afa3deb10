import type { Context } from '../../context/context.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { Counts, Waits } from '../../names/metrics.ts';
import type { Key } from '../../table/access/keys.ts';
import { unlistItem } from '../../table/deliveries/attempt-log.ts';
import { eventCheckFrom, eventCheckPartition } from '../../table/deliveries/event-checks.ts';
import { oldDeliveryPartitions } from '../../table/deliveries/old-deliveries.ts';
import { eventFrom, isEvent } from '../../table/events/event-log.ts';
import { deliveryPartitions, parkedPartitions } from '../../table/lists/delivery-partitions.ts';
import { type SweepCall, type Swept, sweep } from '../../table/lists/due.ts';
import { releaseFrom } from '../../table/webhooks/releases.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';
import { releaseParked } from '../attempts/paused-attempts.ts';
import { addWaits, createWaits, waitsInSeconds } from '../attempts/waits.ts';
import { checkEvents, type FoundByChecks, sendLostAttempts } from './check-events.ts';
import { attemptIn } from './listed-attempt.ts';

/** How many checks are made at the same time. */
const checksAtOnce = 5;

/** The partitions of the `due` index that list attempts, releases, and events that an earlier version listed. */
const partitions = [...deliveryPartitions, ...parkedPartitions, ...oldDeliveryPartitions];

/**
 * Sends the messages of overdue retries again, and the messages of parked attempts after the end of a pause. Then makes the
 * checks of events that are due, which find lost first attempts.
 *
 * @returns also how long attempts have waited, and how many first attempts are missing although they were sent again
 */
export async function sweepDeliveries(
  context: Context,
  call: SweepCall,
): Promise<Swept & { waits: Waits; counts: Counts }> {
  const now = context.clock();
  const found: FoundByChecks = { sent: 0, missing: 0, waits: createWaits() };
  let sent = 0;
  const swept = await sweep(context, partitions, call, async (items) => {
    const attempts = items.flatMap((item) => attemptIn(item) ?? []);
    await sendAttemptMessages(context, attempts);
    sent += attempts.length;
    await addWaits(context, found.waits, waitsOf(attempts, now));
    // Earlier versions listed some events instead of their checks.
    for (const item of items.filter(isEvent)) {
      const open = await sendLostAttempts(context, [eventFrom(item)], found);
      if (open.size === 0) await unlistItem(context, { pk: item.pk, sk: item.sk } as Key);
    }
    for (const release of items.flatMap((item) => releaseFrom(item) ?? []))
      sent += await releaseParked(context, release, call.hasTime);
  });
  // A check is made when it is due, also by a sweep of what is not due yet: its events may have no attempts before.
  const dueCall = { ...call, until: Math.min(call.until, now) };
  const checked = await sweep(context, [eventCheckPartition], dueCall, async (items) => {
    let failure: { reason: unknown } | undefined;
    for (let at = 0; at < items.length; at += checksAtOnce) {
      const checks = items.slice(at, at + checksAtOnce).map(eventCheckFrom);
      const done = await Promise.allSettled(checks.map((check) => checkEvents(context, check, found, call.hasTime)));
      // A check that failed does not hold up the others. It is made again when its entry is due.
      failure ??= done.find((one) => one.status === 'rejected');
    }
    if (failure) throw failure.reason;
  });
  return {
    woken: sent + found.sent,
    unfinished: swept.unfinished || checked.unfinished,
    waits: waitsInSeconds(found.waits),
    counts: found.missing > 0 ? { WorkLost: found.missing } : {},
  };
}

/** Returns how long attempts have waited since they were due. */
function waitsOf(messages: readonly DeliveryMessage[], now: number) {
  return messages.map((message) => ({ message, lateMs: now - Date.parse(message.dueAt) }));
}
