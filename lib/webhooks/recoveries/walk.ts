import { inGroups } from '../../aws/in-groups.ts';
import type { Context } from '../../context/context.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { isTooFarAhead } from '../../table/access/clocks.ts';
import { replaceableAfterMs, waitingRetryOf } from '../../table/deliveries/redeliveries.ts';
import { readLateEventGroups } from '../../table/events/event-feed.ts';
import { type LoggedEvent, readEventsInOrder } from '../../table/events/event-log.ts';
import { followTime } from '../../table/events/log-clock.ts';
import { openLog } from '../../table/events/log-times.ts';
import { followDelayMs, lastUlid } from '../../table/events/positions.ts';
import { graceMs, type SweepCall } from '../../table/lists/due.ts';
import { readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import {
  completeRecovery,
  deleteRecovery,
  endPosition,
  insertRecoveredAttempt,
  isRecoveredBy,
  progressAtStart,
  type RecoveryProgress,
  type StoredRecovery,
  storeRecoveryProgress,
} from '../../table/recoveries/recoveries.ts';
import { isPaused } from '../../table/webhooks/pauses.ts';
import { readWebhook, type StoredWebhook } from '../../table/webhooks/webhooks.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';
import { sendOrder } from '../orders/send-order.ts';
import { takeBack } from './cancelled.ts';
import { type Missed, readMissed, readSubscriptions, walkedEvent } from './missed-events.ts';
import { readMade } from './progress.ts';
import { slotMs } from './recovery-rate.ts';

/** How far ahead messages are sent, in milliseconds. */
const aheadMs = 30_000;

/** How long before the last of these attempts the recovery is continued, in milliseconds, so that the pace has no gaps. */
const orderedAheadMs = 10_000;

/** The shortest and the longest time until it is looked again whether all attempts were made, in milliseconds. */
const lookAgainMs = 1_000;
const longestLookMs = 30_000;

/** How often the lost messages of a recovery are sent again, in milliseconds. */
const sendAgainMs = 5 * 60_000;

/** How many events, and how many late events, are read in one step. */
const stepSize = 50;
const lateStepSize = 25;

/**
 * Continues a recovery that this worker has taken: stores and sends the attempts of the next half minute, oldest events first, or
 * sends lost messages again. New attempts wait for lost ones, so a receiver gets no more than its rate, and one that has become
 * slow is not flooded. Then it sends the order to continue again, a little before the last of these attempts, or after it to see
 * that all were made.
 *
 * A worker can be interrupted between any two steps. Stored attempts are found again by the next one, which skips them. The
 * progress is stored last; if the order is lost, the sweeper continues the recovery.
 *
 * @returns the number of sent messages
 */
export async function continueRecovery(
  context: Context,
  recovery: StoredRecovery,
  call: Required<SweepCall>,
): Promise<number> {
  const { clock } = context;
  const webhook = await readWebhook(context, recovery.organization, recovery.webhookId);
  if (!webhook) {
    await deleteRecovery(context, recovery);
    return 0;
  }
  if (recovery.status === 'cancelled') {
    await takeBack(context, recovery, call.hasTime);
    return 0;
  }
  // It is taken again when this worker's time is over.
  if (isPaused(webhook)) return 0;
  const { lost, ...made } = await readMade(context, recovery, call.until);
  const before: StoredRecovery = { ...recovery, ...made };
  const { messages, isFull, ...after } =
    lost.length > 0
      ? await sendAgain(context, webhook, before, lost, call.until)
      : await sendNext(context, webhook, recovery, before, call.hasTime);
  const isEnd = before.confirmed === endPosition(recovery) && !isFull;
  if (isEnd && recovery.auto && !recovery.again) await goOverAgain(context, recovery);
  else if (isEnd) await completeRecovery(context, recovery, progressOf(after), timestamp(clock()));
  else await continueLater(context, recovery, progressOf(after), continuedAt(recovery, after, isFull, clock()));
  return messages;
}

/**
 * Lets a recovery that the service has begun go over its range once more. At its first success after failures, the last of these
 * can be so recent that their retries could not be replaced.
 */
async function goOverAgain(context: Context, recovery: StoredRecovery): Promise<void> {
  const nextAt = Math.max(context.clock() + lookAgainMs, timeOf(ulidOf(recovery.id)) + replaceableAfterMs);
  await continueLater(context, recovery, { ...progressAtStart(recovery), again: true }, nextAt);
}

/** Stores the progress of a recovery, and sends the order to continue it at `nextAt` (Unix time, in ms). */
async function continueLater(
  context: Context,
  recovery: StoredRecovery,
  progress: Parameters<typeof storeRecoveryProgress>[2],
  nextAt: number,
): Promise<void> {
  const dueAt = timestamp(nextAt + graceMs);
  // If another worker has taken it since, that one has sent an order.
  if (await storeRecoveryProgress(context, recovery, progress, dueAt))
    await sendOrder(context, recovery, { kind: 'recovery', recoveryId: recovery.id, dueAt }, nextAt);
}

/**
 * Returns when a recovery is continued (Unix time, in ms): before the last of its attempts is due if there are more to send, or
 * after it, and then less and less often until all were made.
 */
function continuedAt({ id }: StoredRecovery, { nextSlotAt }: RecoveryProgress, isFull: boolean, now: number): number {
  if (isFull) return Math.max(now + lookAgainMs, nextSlotAt - orderedAheadMs);
  const lastAt = Math.max(nextSlotAt, timeOf(ulidOf(id)));
  return Math.max(now, lastAt) + Math.min(Math.max(lookAgainMs, (now - lastAt) / 4), longestLookMs);
}

/** The progress after a step, the number of messages that it has sent, and whether it has left events for the next one. */
type Sent = RecoveryProgress & { messages: number; isFull: boolean };

/** Sends lost messages again, at the rate of the recovery. */
async function sendAgain(
  context: Context,
  webhook: StoredWebhook,
  progress: StoredRecovery,
  lost: readonly DeliveryMessage[],
  until: number,
): Promise<Sent> {
  const now = context.clock();
  const isEarly = until < progress.sentAgainAt + sendAgainMs && !isTooFarAhead(progress.sentAgainAt, now, 0);
  if (isEarly) return { ...progress, messages: 0, isFull: true };
  const start = startOf(now, progress);
  const interval = slotMs(webhook, progress);
  const inSecond = Map.groupBy(lost.entries(), ([at]) => Math.floor((at * interval) / 1000));
  for (const [second, entries] of inSecond)
    await sendAttemptMessages(
      context,
      entries.map(([, message]) => message),
      start + second * 1000,
    );
  const nextSlotAt = start + lost.length * interval;
  return { ...progress, messages: lost.length, isFull: true, sentAgainAt: now, nextSlotAt };
}

/** The message of a stored attempt, and when it may begin (Unix time, in ms). */
type StoredAttempt = { message: DeliveryMessage; slotAt: number };

/**
 * Stores and sends the attempts that are due until `aheadMs` from now. It reads the log up to its stable position only, as
 * followers do: an event can still be written in front of a later position. Then it looks for late events of the range,
 * which the log got after the recovery had passed their places; they are not in the numbers of the recovery.
 */
async function sendNext(
  context: Context,
  webhook: StoredWebhook,
  recovery: StoredRecovery,
  before: RecoveryProgress,
  hasTime: () => boolean,
): Promise<Sent> {
  const { organization } = recovery;
  const now = context.clock();
  await openLog(context, organization);
  const stableAt = followTime(context) - followDelayMs;
  const to = Math.min(recovery.until, stableAt);
  const interval = slotMs(webhook, recovery);
  const end = now + aheadMs;
  const subscribed = await readSubscriptions(context, organization, webhook);
  const { latePosition: lateFrom = lastUlid(timeOf(ulidOf(recovery.id)) - 1) } = before;
  let { position, latePosition, sent, nextSlotAt } = {
    ...before,
    latePosition: lateFrom,
    nextSlotAt: startOf(now, before),
  };
  let messages = 0;
  let isFull = false;
  const events = readEventsInOrder(context, organization, { after: position, to });
  for await (const step of inGroups(events, stepSize)) {
    const ids = step.map(({ id }) => ulidOf(id));
    const times = { from: timeOf(ids[0] as string), to: timeOf(ids.at(-1) as string) };
    const found = await readDeliveryRows(context, organization, webhook.id, times);
    const read = await Promise.all(
      step.map((event) => readMissed(context, subscribed, recovery, walkedEvent(event), found)),
    );
    const puts: Promise<StoredAttempt[]>[] = [];
    for (const [at, one] of read.entries()) {
      // An interrupted worker has stored this attempt. If its message is lost, it is sent again later.
      const isStored = one?.delivery.redeliveries.some((item) => isRecoveredBy(recovery, item));
      if (isStored) sent++;
      else if (one?.kind) {
        isFull = nextSlotAt + interval > end;
        if (isFull) break;
        puts.push(store(one, nextSlotAt));
        nextSlotAt += interval;
      }
      position = ids[at] as string;
    }
    await send(puts);
    isFull ||= !hasTime();
    if (isFull) break;
  }
  sent += messages;
  if (!isFull) {
    position = to === recovery.until ? endPosition(recovery) : position;
    const late = { after: latePosition, to: stableAt, size: lateStepSize };
    for await (const step of readLateEventGroups(context, organization, late)) {
      const read = await Promise.all(step.map(({ event }) => readPassed(event)));
      const puts: Promise<StoredAttempt[]>[] = [];
      for (const [at, missed] of read.entries()) {
        // The first attempt of an event that is published late has just been sent.
        if (missed?.kind && !missed.lost) {
          isFull = nextSlotAt + interval > end;
          if (isFull) break;
          puts.push(store(missed, nextSlotAt, true));
          nextSlotAt += interval;
        }
        latePosition = (step[at] as (typeof step)[number]).position;
      }
      await send(puts);
      isFull ||= !hasTime();
      if (isFull) break;
    }
    if (!isFull) latePosition = lastUlid(stableAt);
  }
  return { ...before, messages, isFull, position, latePosition, sent, nextSlotAt };

  /**
   * Sends the messages of attempts when all of a step are stored. SQS delays messages by whole seconds from the time when they are
   * sent: what the storing has taken is added, so that no more are received in the first second than in others. A lost first
   * attempt is due at the time of its event, the others at their slots.
   */
  async function send(puts: readonly Promise<StoredAttempt[]>[]): Promise<void> {
    const stored = (await Promise.all(puts)).flat();
    const tookMs = context.clock() - now;
    const slots = Map.groupBy(stored, ({ slotAt }) => slotAt);
    await Promise.all(
      [...slots].map(([slotAt, some]) =>
        sendAttemptMessages(
          context,
          some.map(({ message }) => message),
          slotAt + tookMs,
        ),
      ),
    );
    messages += stored.length;
  }

  /** Reads whether the webhook has missed a late event whose place the recovery has passed. */
  async function readPassed(event: LoggedEvent): Promise<Missed | undefined> {
    const time = timeOf(ulidOf(event.id));
    if (time < recovery.since || ulidOf(event.id) > position) return undefined;
    const found = await readDeliveryRows(context, organization, webhook.id, { from: time, to: time });
    return readMissed(context, subscribed, recovery, walkedEvent(event), found);
  }

  /** Stores the attempt of an event that was missed. */
  async function store(
    { first, delivery, lost, kind }: Missed,
    slot: number,
    isLate = false,
  ): Promise<StoredAttempt[]> {
    const { deliveryId, requestId } = first;
    const lastRow = delivery.rows.at(-1);
    const last = Math.max(0, ...delivery.rows.map(({ attempt }) => attempt as number));
    const retry = kind === 'retrying' && lastRow ? waitingRetryOf(lastRow) : undefined;
    const ids = { deliveryId, eventId: first.eventId as string, ...(requestId && { requestId }), last, lost, retry };
    const slotAt = Math.floor(slot);
    const message = await insertRecoveredAttempt(context, recovery, ids, slotAt, isLate);
    return message ? [{ message, slotAt }] : [];
  }
}

/**
 * Returns the time from which attempts can be sent: after the attempts that were sent before, and whole seconds from now. A
 * clock that was ahead has no messages of that time here.
 */
function startOf(now: number, { nextSlotAt: stored }: RecoveryProgress): number {
  const nextSlotAt = isTooFarAhead(stored, now, aheadMs) ? now : stored;
  return now + Math.ceil(Math.max(0, nextSlotAt - now) / 1000) * 1000;
}

/** Returns the fields of a recovery that change. */
function progressOf(progress: RecoveryProgress): RecoveryProgress {
  const { sent, delivered, failed, position, confirmed, latePosition, nextSlotAt, sentAgainAt } = progress;
  const late = latePosition === undefined ? {} : { latePosition };
  return { sent, delivered, failed, position, confirmed, ...late, nextSlotAt, sentAgainAt };
}
