import { secondsUntil, sendMessages } from '../../aws/queue.ts';
import type { Context } from '../../context/context.ts';
import type { DeliveryMessage, SentDelivery } from '../../names/messages.ts';
import type { RetrySchedule } from '../../settings/retry-schedule.ts';
import { isTooFarAhead } from '../../table/access/clocks.ts';

/** The queue of each attempt: the first attempt, then the steps of the retry schedule. */
const queueOfAttempt = ['deliveries', 'firstRetry', 'secondRetry', 'thirdRetry'] as const;

/** The names of the queues that hold messages of attempts. */
export const deliveryQueues = [...queueOfAttempt, 'slowDeliveries'] as const;

/** The name of a queue that holds messages of attempts. */
export type DeliveryQueue = (typeof deliveryQueues)[number];

/** Returns the form in which the message of an attempt is sent. It is not beside the schemas, which senders do not need. */
export function sentForm({ dueAt, ...rest }: DeliveryMessage): SentDelivery {
  return { ...rest, due: dueAt };
}

/** How far ahead the first attempt of a recovery is stored at most, in milliseconds. */
const recoveryAheadMs = 5 * 60_000;

/**
 * Returns when an attempt may begin (Unix time, in ms). An attempt that is due later than its step of the retry schedule
 * allows, because a clock that was ahead has set the time, waits for the whole step when its message is sent.
 *
 * @param tooLateMs how long such an attempt waits from now; absent: the whole step
 */
export function attemptStart(
  message: DeliveryMessage,
  { now, retrySchedule }: { now: number; retrySchedule: RetrySchedule },
  tooLateMs?: number,
): number {
  const due = Date.parse(message.dueAt);
  const stepMs = longestWaitMs(retrySchedule, message);
  return isTooFarAhead(due, now, stepMs) ? now + (tooLateMs ?? stepMs) : due;
}

/** Returns how long before it is due an attempt can be stored, in milliseconds. */
function longestWaitMs(retrySchedule: RetrySchedule, { attempt, redelivery, scheduleStart }: DeliveryMessage): number {
  if (redelivery) return 0;
  if (scheduleStart === attempt) return recoveryAheadMs;
  return retrySchedule[attempt - (scheduleStart ?? 1) - 1] ?? 0;
}

/**
 * Sends messages to the queues of their attempts, or to the queue of slow webhooks. Each is delayed until it is due, but
 * SQS delays it by 15 minutes at most: a message that is received early is sent again.
 *
 * @param notBefore a later time to receive them (Unix time, in ms), for attempts that have waited for the steps of their
 *   schedules: they do not wait for these again, even if a clock that was ahead has set their due times
 */
export async function sendAttemptMessages(
  context: Pick<Context, 'variables' | 'queues' | 'clients' | 'clock' | 'retrySchedule'>,
  messages: readonly DeliveryMessage[],
  notBefore?: number,
): Promise<void> {
  const times = { now: context.clock(), retrySchedule: context.retrySchedule };
  const timeOf = (message: DeliveryMessage) =>
    notBefore === undefined ? attemptStart(message, times) : Math.max(attemptStart(message, times, 0), notBefore);
  const delayed = (message: DeliveryMessage) => ({
    message: sentForm(message),
    delaySeconds: secondsUntil(timeOf(message), times.now),
  });
  await Promise.all(
    [...Map.groupBy(messages, queueOf)].map(([queue, group]) => sendMessages(context, queue, group.map(delayed))),
  );
}

function queueOf({ attempt, slow, redelivery, scheduleStart = 1 }: DeliveryMessage): DeliveryQueue {
  if (slow) return 'slowDeliveries';
  return redelivery ? 'deliveries' : (queueOfAttempt[attempt - scheduleStart] ?? 'deliveries');
}
