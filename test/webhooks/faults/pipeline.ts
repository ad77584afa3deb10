import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { ulid as ulidAt } from 'ulid';
import * as v from 'valibot';
import { expect } from 'vitest';
import { createContext } from '../../../lib/context/context.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { TaskEvent } from '../../../lib/contract/webhooks/events.ts';
import { missedKinds } from '../../../lib/contract/webhooks/recoveries.ts';
import type { Webhook, WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import { environment } from '../../../lib/names/environment.ts';
import { DeliveryOrOrder, type Order } from '../../../lib/names/messages.ts';
import { tableSchema } from '../../../lib/names/table-schema.ts';
import type { Outcome, Sender } from '../../../lib/sender/sender.ts';
import { readRetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import { organizationOf, webhookOf } from '../../../lib/table/access/keys.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import type { RecordResponse } from '../../../lib/table/idempotency.ts';
import { recoveryPartition } from '../../../lib/table/recoveries/recoveries.ts';
import { isPaused } from '../../../lib/table/webhooks/pauses.ts';
import { readWebhook } from '../../../lib/table/webhooks/webhooks.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { type Change, publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { carryOut } from '../../../lib/webhooks/orders/carry-out.ts';
import { recoverWebhook } from '../../../lib/webhooks/recoveries/recovery.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { rotateWebhookSecret } from '../../../lib/webhooks/secret-rotation.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import type { Ended } from '../../killable.ts';
import { clockAt, openService, type Service } from '../../service.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';
import { checkPipeline, type Expected, nameOf, type PipelineCheck, type Posted } from '../deliveries/check-pipeline.ts';
import { createChange, failed, startTime } from '../test-webhooks.ts';
import { createFaults, type Fault, type Trace } from './faults.ts';
import { type QueuedMessage, simulateQueues } from './simulated-queues.ts';

const minuteMs = 60_000;

/** Returns how long it takes until a batch of the stream comes again after some failures. */
const streamAgainMs = (failures: number) => Math.min(minuteMs, 1_000 * 2 ** (failures - 1));

/** Returns the outcome of the nth post to a receiver, from 1; by default the outcome of a quick success. */
export type Answers = (nth: number) => Partial<Outcome>;

export const failing =
  (times: number): Answers =>
  (nth) =>
    nth <= times ? failed : {};

export const late = { httpStatus: 0, timedOut: true, durationMs: 0, error: 'No answer within 10 s.' };

/** Registers webhooks whose receivers fail some times, plans faults, and puts one change into the stream. */
export async function putChange(pipeline: Pipeline, faults: Fault[], { failures = 0, webhooks = 1 } = {}) {
  for (let more = 0; more < webhooks; more++) await pipeline.register(failing(failures));
  pipeline.faults.plan(...faults);
  // Just after a sweep, so that the next sweep is as late as possible.
  pipeline.clock.now += 1;
  pipeline.put(pipeline.change());
  return pipeline;
}

type Receiver = { webhook: Webhook; answers: Answers; posted: number[] };

export type Pipeline = ReturnType<typeof pipelineOf>;

/**
 * Creates a table and returns a function that creates a pipeline in it: everything between a committed change of an
 * organization and the end of its deliveries, by the service's own code, with simulated queues, a clock and faults.
 *
 * @param retryLadder the value of `RETRY_LADDER`; the standard retry schedule without it
 */
export async function preparePipelines(retryLadder?: string): Promise<() => Pipeline> {
  const service = await openService();
  return () => pipelineOf(service, retryLadder);
}

function pipelineOf(service: Service, retryLadder: string | undefined) {
  const clock = clockAt(startTime);
  const { table } = service;
  const organization = `org-${randomUUID()}` as Organization;
  const faults = createFaults(clock);
  const queues = simulateQueues(clock, faults);
  const retrySchedule = readRetrySchedule(retryLadder);
  const ulid = () => ulidAt(clock());
  const secretsKeyFile = join(createTemporaryFolder(), 'secrets.key');

  const struckTable = faults.table(table);
  /** Creates the context of a process: each worker has its own. A wait of a worker moves the clock. */
  const createProcess = () => ({
    ...createContext({
      environment: {
        [environment.normalAttempts]: '5',
        [environment.slowAttempts]: '30',
        [environment.secretsKeyFile]: secretsKeyFile,
        [environment.retryLadder]: retryLadder,
      },
      clock,
      table: struckTable,
      queues: queues.queues,
    }),
    pause: async (milliseconds: number) => {
      const until = clock() + milliseconds;
      await Promise.resolve();
      clock.now = Math.max(clock.now, until);
    },
  });
  const context = { ...createProcess(), table };

  const receivers: Receiver[] = [];
  const posts: Posted[] = [];
  const worked: { deliveryId: string; posted: number; trace: Trace }[] = [];
  const repeated: string[] = [];
  const expected: Expected[] = [];
  const stream: { changes: Change[]; from: number; failures: number }[] = [];
  let sweptAt = startTime;
  /** When each attempt was first recorded, by the number of a step, because the clock does not move between steps. */
  const recorded = new Map<string, number>();
  let steps = 0;

  const pipeline = {
    service,
    table,
    /** The context of a process without faults. */
    reader: context,
    organization,
    clock,
    faults,
    queues,
    posts,
    expected,

    async register(answers: Answers = () => ({}), events: Webhook['events'] = ['task.created']): Promise<Webhook> {
      const url = `https://example.com/${receivers.length}`;
      const webhook = await registerWebhook({ ...context, ulid }, organization, { url, events }, undefined);
      receivers.push({ webhook, answers, posted: [] });
      return webhook;
    },

    /** Returns a new task as a committed change, and expects its delivery to each subscriber. */
    change(event: TaskEvent['event'] = 'task.created'): Change {
      const change = createChange(organization, event, clock(), `tk_${ulid()}`);
      for (const one of change.events) pipeline.expect(one as TaskEvent);
      return change;
    },

    expect({ event, data }: TaskEvent): void {
      for (const { webhook } of receivers)
        if (webhook.events.includes(event)) expected.push({ webhookId: webhook.id, name: nameOf(event, data) });
    },

    /** Puts a batch of changes into the stream, which is published until that succeeds. */
    put: (...changes: Change[]): void => void stream.push({ changes, from: clock(), failures: 0 }),

    /** Publishes a batch of the stream once, in one worker. */
    publish: (changes: readonly Change[]): Promise<Ended> =>
      faults.run(() => {
        const worker = createProcess();
        return Promise.all(changes.map((change) => publishEvents(worker, change)));
      }),

    publishStream,

    /** Processes all visible messages at the same time, each in a worker of its own. */
    deliver: async (): Promise<void> => void (await Promise.all(queues.receive().map(work))),

    /** Processes a message in a worker, and deletes it if the worker succeeds. */
    work,

    /** Requests a redelivery once, in one worker, with a write of the test's own in its transaction. */
    redeliver: (delivery: { webhookId: string; deliveryId: string }, record?: RecordResponse): Promise<Ended> =>
      faults.run(() => redeliverDelivery(createProcess(), organization, delivery, record)),

    /** Changes a webhook once, in one worker. */
    update: (id: string, patch: WebhookPatch): Promise<Ended> =>
      faults.run(() => updateWebhook(createProcess(), organization, id, patch, () => {})),

    /** Rotates the secret of a webhook once, in one worker. */
    rotate: (id: string): Promise<Ended> =>
      faults.run(() =>
        rotateWebhookSecret(
          createProcess(),
          organization,
          { id, secret: `secret ${clock()}`, overlapSeconds: 60 },
          undefined,
        ),
      ),

    /** Deletes a webhook once, in one worker. */
    remove: (id: string): Promise<Ended> =>
      faults.run(() => deleteWebhook(createProcess(), organization, id, () => {})),

    /** Requests a recovery of all events once, in one worker, with a write of the test's own in its transaction. */
    recover: (webhookId: string, record?: RecordResponse): Promise<Ended> => {
      const body = { since: startTime, include: [...missedKinds] };
      return faults.run(() => recoverWebhook(createProcess(), organization, webhookId, body, record));
    },

    /** Sweeps, with each job in a worker of its own. */
    async sweep(): Promise<void> {
      await faults.run(() => sweepDeliveries(createProcess(), { until: clock() }));
      await faults.run(() => sweepRecoveries(createProcess(), { until: clock(), hasTime: () => true }));
    },

    /** Moves the clock until no work remains: publishes the stream, processes each message, and sweeps each minute. */
    async settle(): Promise<void> {
      for (let turn = 0; turn < 2_000; turn++) {
        await publishStream();
        for (const held of queues.receive()) await work(held);
        // A sweep that finds nothing changes nothing, so it is left out.
        const dueAt = await earliestDue();
        if (clock() >= sweepAfter(dueAt)) {
          sweptAt = clock();
          await pipeline.sweep();
          continue;
        }
        const next = Math.min(queues.nextAt(), sweepAfter(dueAt), ...stream.map(({ from }) => from));
        if (next === Number.POSITIVE_INFINITY) return;
        clock.now = Math.max(clock.now, next);
      }
      throw new Error('The pipeline never has no work.');
    },

    /** Settles, expects that every planned fault has struck, and checks the pipeline. */
    async rest(): Promise<PipelineCheck> {
      await pipeline.settle();
      expect(faults.idle()).toEqual([]);
      return pipeline.check();
    },

    check(): Promise<PipelineCheck> {
      // Only a fault excuses a post without a record.
      const lost = worked.filter(({ trace }) => trace.struck.length > 0 && !trace.carriedOut.includes('record'));
      const unrecorded = [...lost.flatMap(({ deliveryId, posted }) => Array(posted).fill(deliveryId)), ...repeated];
      return checkPipeline(table, organization, { expected, posts, unrecorded, retrySchedule, now: clock() });
    },
  };
  return pipeline;

  async function publishStream(): Promise<void> {
    for (const batch of stream.filter(({ from }) => from <= clock())) {
      if ((await pipeline.publish(batch.changes)) === 'done') stream.splice(stream.indexOf(batch), 1);
      else batch.from = clock() + streamAgainMs(++batch.failures);
    }
  }

  async function work(held: QueuedMessage): Promise<void> {
    const askedAt = ++steps;
    const message = v.parse(DeliveryOrOrder, JSON.parse(held.body));
    if ('order' in message) {
      await faults.run(async () => {
        // No change of these tests is followed by an order of the board.
        await carryOut(createProcess(), message as Order);
        await faults.pass('acknowledge', async () => queues.acknowledge(held));
      });
      return;
    }
    const { deliveryId, attempt } = message;
    const name = `${deliveryId} ${attempt}`;
    const trace: Trace = {
      carriedOut: [],
      struck: [],
      onCarriedOut: (point) => {
        if (point !== 'record') return;
        // A worker that started before another one recorded the attempt could not know about its post.
        const recordedAt = recorded.get(name);
        if (recordedAt === undefined) recorded.set(name, ++steps);
        else if (askedAt < recordedAt) repeated.push(deliveryId);
      },
    };
    const one = { deliveryId, posted: 0, trace };
    worked.push(one);
    const sender: Sender = ({ url }) =>
      faults.pass('post', async () => {
        const { webhook, answers, posted } = receivers[Number(url.split('/').at(-1))] as Receiver;
        posts.push({ at: clock(), webhookId: webhook.id, deliveryId });
        posted.push(clock());
        one.posted += 1;
        const success = { httpStatus: 204, durationMs: 0, timedOut: false, responseBody: '' };
        return { ...success, ...answers(posted.length) };
      });
    await faults.run(async () => {
      await deliverWebhook({ ...createProcess(), sender }, message);
      await faults.pass('acknowledge', async () => queues.acknowledge(held));
    }, trace);
  }

  async function earliestDue(): Promise<number> {
    const { name, partitionKey, sortKey } = tableSchema.dueIndex;
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name, IndexName: name }));
    const ids = receivers.map(({ webhook }) => webhook.id);
    const stored = await Promise.all(ids.map((id) => readWebhook(context, organization, id)));
    const paused = new Set(stored.flatMap((one) => (one && isPaused(one) ? [ulidOf(one.id)] : [])));
    // A recovery waits for the end of a pause, and is looked at again and again.
    const waits = ({ pk, [partitionKey]: due }: Item) =>
      due === recoveryPartition && paused.has(webhookOf(pk as string));
    const own = Items.filter((item) => organizationOf(item.pk as string) === organization && !waits(item));
    return Math.min(...own.map((item) => Date.parse(item[sortKey] as string)));
  }

  /** Returns the first whole minute from a moment on without a sweep. */
  function sweepAfter(moment: number): number {
    return Math.max(Math.ceil(moment / minuteMs) * minuteMs, sweptAt + minuteMs);
  }
}
