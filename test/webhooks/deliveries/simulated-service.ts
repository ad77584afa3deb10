import { type Context, createContext } from '../../../lib/context.ts';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { pollingOf, slowAttemptsOf } from '../../../lib/deployment/polling.ts';
import type { QueueSender } from '../../../lib/sqs/queue.ts';
import type { Table } from '../../../lib/table/client.ts';
import { insertWebhook } from '../../../lib/table/deliveries/webhooks.ts';
import { readAttemptLimits } from '../../../lib/webhooks/deliveries/attempt-limits.ts';
import type { DeliveryQueue } from '../../../lib/webhooks/deliveries/attempt-messages.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { type Change, publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import type { RetrySchedule } from '../../../lib/webhooks/deliveries/retry-schedule.ts';
import type { Sender } from '../../../lib/webhooks/sender/sender.ts';
import { awsMs, type rampOfLambda, simulateLambda } from './simulated-lambda.ts';
import { simulateTable } from './simulated-table.ts';
import { type SimulatedTime, simulateTime } from './simulated-time.ts';

/** A receiver: how many events a second its webhook is sent, and how it answers its nth post. */
export type SimulatedReceiver = {
  eventsPerSecond: number;
  answer: (nth: number) => { httpStatus: number; afterMs: number };
};

/** An attempt that was made: for which receiver, which one of its delivery, when, and how long after it was due. */
export type Attempt = { receiver: number; attempt: number; atMs: number; lateMs: number };

const start = Date.parse('2026-03-01T12:00:00.000Z');

/** Retries after 2, 4 and 8 s. */
const retrySchedule: RetrySchedule = [2_000, 4_000, 8_000];

/** Creates the context of a container. No webhook has a secret. */
export function simulateContainer(
  time: SimulatedTime,
  table: Table,
  queues: Map<DeliveryQueue, QueueSender>,
  { retrySchedule, attemptLimits }: Pick<Context, 'retrySchedule' | 'attemptLimits'>,
): Context {
  const { clock, startTimer } = time;
  return { ...createContext({ environment: {}, clock, table, queues }), startTimer, retrySchedule, attemptLimits };
}

/** Registers a webhook that is subscribed to new tasks, for the receiver with a number; returns its id. */
export async function simulateWebhook(table: Table, organization: Organization, receiver: number, now: number) {
  const id = `wh_${ulidFrom(now, new Uint8Array(10).fill(receiver))}`;
  const url = `https://receivers.example/${receiver}`;
  const webhook: Webhook = { id, url, events: ['task.created'], active: true, createdAt: timestamp(now) };
  await insertWebhook({ table }, organization, webhook, undefined, undefined);
  return id;
}

/** The nth new task of an organization as a change. */
export function simulatedChange(organization: Organization, nth: number, now: number): Change {
  const item = `task ${nth}`;
  const task = { id: item, title: 'A task', status: 'backlog' as const };
  return {
    organization,
    item,
    version: 1,
    events: [{ event: 'task.created', data: { task, occurredAt: timestamp(now) } }],
  };
}

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
  const table = simulateTable(time, () => awsMs.table);
  const attempts: Attempt[] = [];
  const posts = receivers.map(() => 0);

  const senderFor =
    ({ attempt, dueAt }: DeliveryMessage): Sender =>
    async ({ url }) => {
      const receiver = Number(new URL(url).pathname.slice(1));
      const now = time.clock();
      attempts.push({ receiver, attempt, atMs: now - start, lateMs: now - Date.parse(dueAt) });
      const nth = posts[receiver] ?? 0;
      posts[receiver] = nth + 1;
      const { httpStatus, afterMs } = (receivers[receiver] as SimulatedReceiver).answer(nth);
      await time.sleep(afterMs);
      const error = httpStatus < 300 ? {} : { error: `The receiver answered ${httpStatus}.` };
      return { httpStatus, durationMs: afterMs, timedOut: false, responseBody: '', ...error };
    };
  const createContainerContext = () =>
    simulateContainer(time, table, lambda.queues, {
      retrySchedule,
      attemptLimits: { normal: readAttemptLimits({}).normal, slow: slowAttempts },
    });
  const createContainer = () => {
    const context = createContainerContext();
    return (message: DeliveryMessage) => deliverWebhook({ ...context, sender: senderFor(message) }, message);
  };
  const lambda = simulateLambda(time, polling, createContainer, { ramp });

  const publisher = createContainerContext();
  const publishTo = async (receiver: number, { eventsPerSecond }: SimulatedReceiver) => {
    const organization = `org-${receiver}` as Organization;
    await simulateWebhook(table, organization, receiver, start);
    // Not all at the same moment.
    await time.sleep(Math.floor((1_000 * receiver) / receivers.length));
    for (let nth = 0; ; nth++) {
      void publishEvents(publisher, simulatedChange(organization, nth, time.clock()));
      await time.sleep(Math.floor(1_000 / eventsPerSecond));
    }
  };
  for (const [nth, receiver] of receivers.entries()) void publishTo(nth, receiver);
  await time.passUntil(start + seconds * 1_000);
  return { attempts, mostCalls: lambda.mostCalls() };
}
