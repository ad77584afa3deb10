import { inGroups } from '../../batching/in-groups.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import { isTooFarAhead } from '../../table/clocks.ts';
import { type LoggedEvent, readEvent, readEventsInOrder } from '../../table/deliveries/event-log.ts';
import { isPaused } from '../../table/deliveries/pauses.ts';
import { readWebhook, type StoredWebhook } from '../../table/deliveries/webhooks.ts';
import { readLateEventGroups } from '../../table/events/event-feed.ts';
import { followTime, type LogClockContext, openLog } from '../../table/events/log-clock.ts';
import { followDelayMs, lastUlid } from '../../table/events/positions.ts';
import { graceMs, type SweepCall, type Swept, sweep } from '../../table/lists/due.ts';
import { findRowOf, readDeliveryRows } from '../../table/recoveries/delivery-rows.ts';
import {
  completeRecovery,
  deleteRecovery,
  endPosition,
  insertRecoveredAttempt,
  isRecoveredBy,
  type RecoveryProgress,
  recoveredMessage,
  recoveryFrom,
  recoveryPartition,
  type StoredRecovery,
  slotOf,
  storeProgress,
} from '../../table/recoveries/recoveries.ts';
import { type AttemptMessageContext, sendAttemptMessages } from '../deliveries/attempt-messages.ts';
import { type Missed, readMissed, readSubscriptions, walkedEvent } from './missed-events.ts';
import { slotMs } from './recovery-rate.ts';

type SweepContext = LogClockContext & AttemptMessageContext;

/** How long other sweeps skip a recovery that a sweep has taken, in milliseconds: longer than a sweep can take. */
const takenMs = 2 * 60_000;

/** How long after a sweep the next one takes a recovery, in milliseconds: less than the interval of the sweeps. */
const nextSweepMs = 30_000;

/**
 * How far ahead a sweep sends messages, in milliseconds: the interval of the sweeps, and some time for a sweep that begins
 * late, so that the pace has no gaps.
 */
const aheadMs = 75_000;

/** The time that a sweep has to store attempts before the first of them is due, in milliseconds. */
const leadMs = 5_000;

/** How often the lost messages of a recovery are sent again, in milliseconds. */
const sendAgainMs = 5 * 60_000;

/** How many events, and how many late events, a sweep reads in one step, and how many recoveries it continues at the same time. */
const stepSize = 200;
const lateStepSize = 25;
const atOnce = 5;

/** Continues the recoveries that are due. Returns the number of messages that it has sent. */
export async function sweepRecoveries(context: SweepContext, call: Required<SweepCall>): Promise<Swept> {
  let sent = 0;
  const swept = await sweep(context, [recoveryPartition], { ...call, againMs: takenMs }, async (items) => {
    let failure: { reason: unknown } | undefined;
    for (let at = 0; at < items.length && call.hasTime(); at += atOnce) {
      const some = items.slice(at, at + atOnce).map(recoveryFrom);
      const done = await Promise.allSettled(some.map((recovery) => continueRecovery(context, recovery, call)));
      // A recovery that failed does not hold up the others. It is taken again when its entry is due.
      failure ??= done.find((one) => one.status === 'rejected');
      for (const one of done) sent += one.status === 'fulfilled' ? one.value : 0;
    }
    if (failure) throw failure.reason;
  });
  return { ...swept, woken: sent };
}

/**
 * Continues a recovery: stores and sends the attempts of the next minute, oldest events first, or sends lost messages
 * again. New attempts wait for lost ones, so a receiver gets no more than its rate, and one that has become slow is not
 * flooded.
 *
 * A sweep can be interrupted between any two steps. Stored attempts are found again by the next sweep, which skips them.
 * The progress is stored last.
 *
 * @returns the number of sent messages
 */
async function continueRecovery(
  context: SweepContext,
  recovery: StoredRecovery,
  call: Required<SweepCall>,
): Promise<number> {
  const { clock } = context;
  const webhook = await readWebhook(context, recovery.organization, recovery.webhookId);
  if (!webhook) {
    await deleteRecovery(context, recovery);
    return 0;
  }
  // It is taken again when this sweep's time is over.
  if (isPaused(webhook)) return 0;
  const { lost, ...made } = await readMade(context, recovery, call.until);
  const before: RecoveryProgress = { ...recovery, ...made };
  const { messages, isFull, ...after } =
    lost.length > 0
      ? await sendAgain(context, webhook, before, lost, call.until)
      : await sendNext(context, webhook, recovery, before, call.hasTime);
  if (before.confirmed === endPosition(recovery) && !isFull)
    await completeRecovery(context, recovery, progressOf(after), timestamp(clock()));
  else await storeProgress(context, recovery, progressOf(after), timestamp(clock() + nextSweepMs));
  return messages;
}

/**
 * Returns how many attempts of a recovery were made since the last sweep, and the attempts whose messages are lost.
 *
 * @param until the time of the sweep, in the future after a restart with empty queues (Unix time, in ms)
 */
async function readMade(
  context: SweepContext,
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
    .sort((a, b) => (eventOf(a.message) < eventOf(b.message) ? -1 : 1));
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

/** The progress after a step, the number of messages that it has sent, and whether it has left events for the next sweep. */
type Sent = RecoveryProgress & { messages: number; isFull: boolean };

/** Sends lost messages again, at the rate of the webhook. */
async function sendAgain(
  context: SweepContext,
  webhook: StoredWebhook,
  progress: RecoveryProgress,
  lost: readonly DeliveryMessage[],
  until: number,
): Promise<Sent> {
  const now = context.clock();
  const isEarly = until < progress.sentAgainAt + sendAgainMs && !isTooFarAhead(progress.sentAgainAt, now, 0);
  if (isEarly) return { ...progress, messages: 0, isFull: true };
  const start = startOf(now, progress);
  const interval = slotMs(webhook);
  const inSecond = Map.groupBy(lost.entries(), ([at]) => Math.floor((at * interval) / 1000));
  for (const [second, entries] of inSecond)
    await sendAttemptMessages(
      context,
      entries.map(([, message]) => message),
      start + (second + 1) * 1000,
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
  context: SweepContext,
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
  const interval = slotMs(webhook);
  const end = now + aheadMs;
  const subscribed = await readSubscriptions(context, organization, webhook);
  const { latePosition: lateFrom = lastUlid(timeOf(ulidOf(recovery.id)) - 1) } = before;
  let { position, latePosition, sent, nextSlotAt } = {
    ...before,
    latePosition: lateFrom,
    nextSlotAt: startOf(now, before),
  };
  const messages: StoredAttempt[] = [];
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
      // An interrupted sweep has stored this attempt. If its message is lost, it is sent again later.
      const isStored = one?.delivery.redeliveries.some((item) => isRecoveredBy(recovery, item));
      if (isStored) sent++;
      else if (one?.kind) {
        isFull = nextSlotAt + interval > end;
        if (isFull) break;
        nextSlotAt += interval;
        puts.push(store(one));
      }
      position = ids[at] as string;
    }
    messages.push(...(await Promise.all(puts)).flat());
    isFull ||= !hasTime();
    if (isFull) break;
  }
  sent += messages.length;
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
          nextSlotAt += interval;
          puts.push(store(missed, true));
        }
        latePosition = (step[at] as (typeof step)[number]).position;
      }
      messages.push(...(await Promise.all(puts)).flat());
      isFull ||= !hasTime();
      if (isFull) break;
    }
    if (!isFull) latePosition = lastUlid(stableAt);
  }
  // Sent at once: SQS delays messages by whole seconds from the time when they are sent.
  // A lost first attempt is due at the time of its event, the others at their slots.
  const slots = Map.groupBy(messages, ({ message, slotAt }) => (Date.parse(message.dueAt) < slotAt ? slotAt : 0));
  const send = ([slotAt, some]: [number, typeof messages]) =>
    sendAttemptMessages(
      context,
      some.map(({ message }) => message),
      slotAt,
    );
  await Promise.all([...slots].map(send));
  return { ...before, messages: messages.length, isFull, position, latePosition, sent, nextSlotAt };

  /** Reads whether the webhook has missed a late event whose place the recovery has passed. */
  async function readPassed(event: LoggedEvent): Promise<Missed | undefined> {
    const time = timeOf(ulidOf(event.id));
    if (time < recovery.since || ulidOf(event.id) > position) return undefined;
    const found = await readDeliveryRows(context, organization, webhook.id, { from: time, to: time });
    return readMissed(context, subscribed, recovery, walkedEvent(event), found);
  }

  /** Stores the attempt of an event that was missed. */
  async function store({ first, delivery, lost }: Missed, isLate = false): Promise<StoredAttempt[]> {
    const { deliveryId, requestId } = first;
    const last = Math.max(0, ...delivery.rows.map(({ attempt }) => attempt as number));
    const ids = { deliveryId, eventId: first.eventId as string, ...(requestId && { requestId }), last, lost };
    const slotAt = Math.floor(nextSlotAt);
    const message = await insertRecoveredAttempt(context, recovery, ids, slotAt, isLate);
    return message ? [{ message, slotAt }] : [];
  }
}

/**
 * Returns the time from which a sweep can send: after the messages of the last sweep, and whole seconds from now. A clock that
 * was ahead has no messages of that time here.
 */
function startOf(now: number, { nextSlotAt: stored }: RecoveryProgress): number {
  const nextSlotAt = isTooFarAhead(stored, now, aheadMs) ? now : stored;
  return now + Math.ceil(Math.max(leadMs, nextSlotAt - now) / 1000) * 1000;
}

/** Returns the ULID of the event of an attempt. */
const eventOf = ({ eventId }: DeliveryMessage) => ulidOf(eventId as string);

/** Returns the fields of a recovery that change. */
function progressOf(progress: RecoveryProgress): RecoveryProgress {
  const { sent, delivered, failed, position, confirmed, latePosition, nextSlotAt, sentAgainAt } = progress;
  const late = latePosition === undefined ? {} : { latePosition };
  return { sent, delivered, failed, position, confirmed, ...late, nextSlotAt, sentAgainAt };
}
