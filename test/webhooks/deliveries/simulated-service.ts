import { type Context, createContext } from '../../../lib/context.ts';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { pollingOf, slowAttemptsOf } from '../../../lib/deployment/polling.ts';
import { insertWebhook } from '../../../lib/table/deliveries/webhooks.ts';
import { readAttemptLimits } from '../../../lib/webhooks/deliveries/attempt-limits.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import type { Post } from '../../../lib/webhooks/sender/sender.ts';
import { createChange, startTime } from '../test-webhooks.ts';
import { simulateLambda } from './simulated-lambda.ts';
import { simulateTable } from './simulated-table.ts';
import { simulateTime } from './simulated-time.ts';

/** A receiver: how many events a second its webhook is sent, and how it answers its nth post. */
export type SimulatedReceiver = {
  eventsPerSecond: number;
  answer: (nth: number) => { httpStatus: number; afterMs: number };
};

/** An attempt that was made: for which receiver, which one of its delivery, when, and how long after it was due. */
export type Attempt = { receiver: number; attempt: number; atMs: number; lateMs: number };

/**
 * Delivers events to receivers for some simulated seconds by the service's own code, in containers that the queues call as
 * in AWS. Each receiver is the only webhook of an organization. Retries come after 2, 4 and 8 s.
 *
 * @param slowAttempts the limit of concurrent attempts of a slow webhook
 */
export async function deliverTo(
  receivers: readonly SimulatedReceiver[],
  {
    seconds,
    polling = pollingOf(),
    slowAttempts = slowAttemptsOf(polling),
  }: { seconds: number; polling?: ReturnType<typeof pollingOf>; slowAttempts?: number },
): Promise<Attempt[]> {
  const time = simulateTime(startTime);
  const { clock, startTimer, sleep } = time;
  const table = simulateTable(time);
  const attempts: Attempt[] = [];
  const posts = receivers.map(() => 0);

  const post = async ({ attempt, dueAt }: DeliveryMessage, { url }: Post) => {
    const receiver = Number(new URL(url).pathname.slice(1));
    attempts.push({ receiver, attempt, atMs: clock() - startTime, lateMs: clock() - Date.parse(dueAt) });
    const nth = posts[receiver] ?? 0;
    posts[receiver] = nth + 1;
    const { httpStatus, afterMs } = (receivers[receiver] as SimulatedReceiver).answer(nth);
    await sleep(afterMs);
    const error = httpStatus < 300 ? {} : { error: `The receiver answered ${httpStatus}.` };
    return { httpStatus, durationMs: afterMs, timedOut: false, responseBody: '', ...error };
  };
  const createContainerContext = (): Context => ({
    ...createContext({ environment: {}, clock, table, queues }),
    startTimer,
    retrySchedule: [2_000, 4_000, 8_000],
    attemptLimits: { normal: readAttemptLimits({}).normal, slow: slowAttempts },
  });
  const createContainer = () => {
    const context = createContainerContext();
    return (message: DeliveryMessage) =>
      deliverWebhook({ ...context, sender: (request) => post(message, request) }, message);
  };
  const queues = simulateLambda(time, polling, createContainer);
  const publisher = createContainerContext();

  const publishTo = async (receiver: number, { eventsPerSecond }: SimulatedReceiver) => {
    const organization = `org-${receiver}` as Organization;
    const id = `wh_${ulidFrom(startTime, new Uint8Array(10).fill(receiver))}`;
    const url = `https://receivers.example/${receiver}`;
    const webhook = { id, url, events: ['task.created' as const], active: true, createdAt: timestamp(startTime) };
    await insertWebhook(publisher, organization, webhook, undefined, undefined);
    // Not all at the same moment.
    await sleep(Math.floor((1_000 * receiver) / receivers.length));
    for (let nth = 0; ; nth++) {
      void publishEvents(publisher, createChange(organization, 'task.created', clock(), `task ${nth}`));
      await sleep(Math.floor(1_000 / eventsPerSecond));
    }
  };
  for (const [nth, receiver] of receivers.entries()) void publishTo(nth, receiver);
  await time.passUntil(startTime + seconds * 1_000);
  return attempts;
}
