import { timestamp, ulidFrom } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { pollingOf, slowAttemptsOf } from '../../lib/contract/polling.ts';
import { readAttemptLimits } from '../../lib/webhooks/attempt-limits.ts';
import { openDeliveries } from '../../lib/webhooks/deliveries.ts';
import type { Ladder } from '../../lib/webhooks/ladder.ts';
import type { Secrets } from '../../lib/webhooks/secrets.ts';
import type { Sender } from '../../lib/webhooks/sender.ts';
import { type rampOfLambda, simulateLambda } from './simulated-lambda.ts';
import { simulateStores } from './simulated-stores.ts';
import { simulateTime } from './simulated-time.ts';

/** A receiver: how many events a second its webhook is sent, and how it answers its nth post. */
export type SimulatedReceiver = {
  eventsPerSecond: number;
  answer: (nth: number) => { httpStatus: number; afterMs: number };
};

/** An attempt that was made: for which receiver, which one of its delivery, when, and how long after it was due. */
export type Attempt = { receiver: number; attempt: number; atMs: number; lateMs: number };

const start = Date.parse('2026-03-01T12:00:00.000Z');

/** Retries after 2, 4 and 8 s. */
const ladder: Ladder = [2_000, 4_000, 8_000];

/**
 * Delivers events to receivers for some simulated seconds: by the service's own code of deliveries, in containers that
 * the queues call as in AWS. Each receiver is the only webhook of an organization.
 *
 * @param slowAttempts the limit of concurrent attempts of a slow webhook
 */
export async function deliverTo(
  receivers: readonly SimulatedReceiver[],
  {
    seconds,
    polling = pollingOf(),
    slowAttempts = slowAttemptsOf(polling),
    ramp,
  }: { seconds: number; polling?: ReturnType<typeof pollingOf>; slowAttempts?: number; ramp?: typeof rampOfLambda },
) {
  const time = simulateTime(start);
  const stores = simulateStores(time);
  const attempts: Attempt[] = [];
  const posts = receivers.map(() => 0);

  const send: Sender = async ({ url, headers }) => {
    const receiver = Number(new URL(url).pathname.slice(1));
    const { attempt, nextAttemptAt } = stores.delivery(headers['X-Service-Delivery'] as string);
    const now = time.clock();
    attempts.push({ receiver, attempt, atMs: now - start, lateMs: now - Date.parse(nextAttemptAt) });
    const nth = posts[receiver] ?? 0;
    posts[receiver] = nth + 1;
    const { httpStatus, afterMs } = (receivers[receiver] as SimulatedReceiver).answer(nth);
    await time.sleep(afterMs);
    const error = httpStatus < 300 ? {} : { error: `The receiver answered ${httpStatus}.` };
    return { httpStatus, durationMs: afterMs, timedOut: false, responseBody: '', ...error };
  };
  const createDeliveries = () =>
    openDeliveries({
      store: stores.deliveryStore,
      webhooks: stores.webhookStore,
      queues: lambda.queues,
      // No webhook has one.
      secrets: {} as Secrets,
      ladder,
      limits: { prompt: readAttemptLimits({}).prompt, slow: slowAttempts },
      ulid: () => ulidFrom(time.clock(), new Uint8Array(10)),
      clock: time.clock,
      alarm: time.alarm,
    });
  const createContainer = () => {
    const deliveries = createDeliveries();
    return (message: Parameters<typeof deliveries.attempt>[0]) => deliveries.attempt(message, send);
  };
  const lambda = simulateLambda(time, polling, createContainer, ramp);

  const publisher = createDeliveries();
  const publishTo = async (receiver: number, { eventsPerSecond }: SimulatedReceiver) => {
    const organization = `org-${receiver}` as Organization;
    const webhook = `wh_${ulidFrom(start, new Uint8Array(10).fill(receiver))}`;
    stores.register(organization, webhook, `https://receivers.example/${receiver}`);
    // Not all at the same moment.
    await time.sleep(Math.floor((1_000 * receiver) / receivers.length));
    for (let nth = 0; ; nth++) {
      const item = `task ${nth}`;
      const task = { id: item, title: 'A task', status: 'backlog' as const };
      const data = { task, occurredAt: timestamp(time.clock()) };
      void publisher.publish({ organization, item, version: 1, events: [{ event: 'task.created', data }] });
      await time.sleep(Math.floor(1_000 / eventsPerSecond));
    }
  };
  for (const [nth, receiver] of receivers.entries()) void publishTo(nth, receiver);
  await time.passUntil(start + seconds * 1_000);
  return { attempts, mostCalls: lambda.mostCalls() };
}
