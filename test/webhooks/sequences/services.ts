import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { enqueueMessages, type MemoryQueue } from '../../../infra/local/queues/memory-queue.ts';
import { pollQueue, type Stop } from '../../../infra/local/queues/queue-poller.ts';
import { createQueues, type Queues, sendersOf } from '../../../infra/local/queues/queues.ts';
import {
  type HandledBatch,
  type RecordBatch,
  removeFinished,
  runForBatches,
} from '../../../infra/local/queues/record-batches.ts';
import { createQueueSender } from '../../../lib/aws/queue.ts';
import type { Context } from '../../../lib/context/context.ts';
import { pollingOf } from '../../../lib/settings/polling.ts';
import { deliveryQueues } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { createProcess, type Process } from './calls.ts';
import { handleMessages, publishFrom, type World, wait } from './world.ts';

/** The end of a request to the API; `lost` if its process was not running or has died. */
export type Answer = 'done' | 'lost' | { error: unknown };

/** A deployment of the service in a world. */
export type Service = {
  /** Carries a request out. */
  request: (run: (context: Context) => Promise<unknown>) => Promise<Answer>;
  /** Ends all processes at once. */
  crash: () => void;
  /** Ends all processes as the deployment does when it is stopped. */
  stop: () => void;
  sweep: { everyMs: number; isDone: () => boolean; run: () => void };
  /** Publishes the last changes of the stream again, as after a loss of its position. */
  publishAgain: () => void;
  /** Loses the next message that a queue takes, or takes it twice. */
  lose: () => void;
  duplicate: () => void;
  /** Sends the lost messages again. */
  redrive: () => void;
  /** Whether no message is in a queue, no change waits, and a process is there to look for what is due. */
  isIdle: () => boolean;
  describe: () => string;
};

const restartMs = 1_000;
const endOfTime = Date.parse('9999-12-31T23:59:59.999Z');

const jobs = [
  (context: Context, until: number) => sweepDeliveries(context, { until }),
  (context: Context, until: number) => sweepRecoveries(context, { until, hasTime: () => true }),
];

const isEmpty = (queue: MemoryQueue) => queue.delayed.size + queue.visible.size + queue.received.size === 0;
const contentOf = (queues: Queues) =>
  deliveryQueues
    .filter((name) => !isEmpty(queues[name]))
    .map((name) => `${name}: ${queues[name].delayed.size}+${queues[name].visible.size}+${queues[name].received.size}`);

/** Runs a job in a process until it is done, fails or dies. */
async function endOf(process: Process, job: Promise<unknown>): Promise<Answer> {
  const ended = job.then(
    (): Answer => 'done',
    (error): Answer => ({ error }),
  );
  return Promise.race([ended, process.died.then((): Answer => 'lost')]);
}

/** Starts the local service: one process, with its queues in memory, which starts again a second after its end. */
export function startLocalService(world: World): Service {
  /** The position in the stream that is stored. */
  let stored = 0;
  let running:
    | {
        process: Process;
        context: Context;
        queues: Queues;
        pollers: Stop[];
        store: () => void;
        isCaughtUp: () => boolean;
      }
    | undefined;
  let sweeping = 0;
  let isStopping = false;
  start();

  function start(): void {
    const queues = createQueues();
    const process = createProcess(onDeath);
    const context = world.context(process, sendersOf(queues));
    const handler = (event: unknown) => handleMessages(process, context, (event as SQSEvent).Records);
    const pollers = deliveryQueues.map((name) =>
      pollQueue({ name, queue: queues[name], handler, timeoutSeconds: 30, ...pollingOf()[name] }, wait),
    );
    isStopping = false;
    running = { process, context, queues, pollers, ...publish(process, context) };
    sweeping = 0;
    runJobs(endOfTime);
  }

  function onDeath(): void {
    for (const stop of running?.pollers ?? []) void stop();
    // The position is stored at each end of the stream, and some time after that it is the current one.
    running?.store();
    running = undefined;
    setTimeout(start, restartMs);
  }

  /** Publishes the stream from the stored position on. */
  function publish(process: Process, context: Context) {
    let position = stored;
    let handled: HandledBatch[] = [];
    const store = () => {
      const { open, done } = removeFinished(handled);
      handled = open;
      if (done !== undefined) stored = Number(done);
    };
    const loop = async () => {
      while (!process.dead) {
        const batch: RecordBatch = { shard: 'shard', number: position, messages: 0 };
        const published = await runForBatches([batch], () => publishFrom(world, context, position));
        position += published;
        if (published > 0) handled.push({ batch, position: String(position) });
        else if (position === world.changes.length) await world.nextSignal();
        else await wait(200);
      }
    };
    void loop();
    return { store, isCaughtUp: () => position === world.changes.length };
  }

  function runJobs(until: number): void {
    if (!running || sweeping > 0) return;
    const { process, context } = running;
    sweeping = jobs.length;
    for (const job of jobs)
      void endOf(process, job(context, until)).then(() => {
        if (!process.dead) sweeping--;
      });
  }

  return {
    request: async (run) => {
      if (!running || isStopping) return 'lost';
      const { process, context } = running;
      return endOf(process, run(context));
    },
    crash: () => running?.process.die(),
    stop: async () => {
      if (!running || isStopping) return;
      const { process, pollers } = running;
      isStopping = true;
      await Promise.all(pollers.map((stop) => stop()));
      process.die();
    },
    sweep: { everyMs: 60_000, isDone: () => sweeping === 0, run: () => runJobs(Date.now()) },
    publishAgain: () => {
      stored = Math.max(0, stored - 5);
    },
    lose: () => {},
    duplicate: () => {},
    redrive: () => {},
    isIdle: () =>
      running !== undefined && !isStopping && running.isCaughtUp() && contentOf(running.queues).length === 0,
    describe: () => (running ? contentOf(running.queues).join(', ') : 'not running'),
  };
}

/** Starts the service in AWS: queues that outlive all functions, and containers that make one call at a time. */
export function startAwsService(world: World): Service {
  const queues = createQueues();
  const containers = new Set<{ process: Process; context: Context; isFree: boolean }>();
  /** What happens to the next messages. */
  const fates: ('lost' | 'twice')[] = [];
  const deadLetters: { queue: MemoryQueue; body: string }[] = [];
  let position = 0;
  let sweeping = 0;
  for (const name of deliveryQueues) {
    const handler = async (event: unknown) => {
      const { result } = await invoke((process, context) =>
        handleMessages(process, context, (event as SQSEvent).Records),
      );
      if (!result) throw new Error('The container is lost.');
      return result;
    };
    pollQueue({ name, queue: queues[name], handler, timeoutSeconds: 30, ...pollingOf()[name] }, wait);
  }
  void publish();

  function senders(process: Process) {
    const clientOf = (queue: MemoryQueue) => {
      const send = ({ input: { Entries = [] } }: SendMessageBatchCommand) =>
        world.calls.make(process, (isHalf) => {
          const accepted = isHalf ? Entries.slice(0, Math.floor(Entries.length / 2)) : Entries;
          for (const { MessageBody: body = '', DelaySeconds: delaySeconds = 0 } of accepted) {
            const fate = fates.shift() ?? 'once';
            if (fate === 'lost') deadLetters.push({ queue, body });
            else enqueueMessages(queue, Array(fate === 'twice' ? 2 : 1).fill({ body, delaySeconds }));
          }
          return {};
        });
      return { send } as unknown as SQSClient;
    };
    return new Map(deliveryQueues.map((name) => [name, createQueueSender(clientOf(queues[name]), name)] as const));
  }

  /** Calls a function in a container that is free, or in a new one. The result is absent if the call fails or is lost. */
  async function invoke<Result>(run: (process: Process, context: Context) => Promise<Result>) {
    let container = [...containers].find(({ isFree }) => isFree);
    if (!container) {
      const process = createProcess();
      container = { process, context: world.context(process, senders(process)), isFree: true };
      containers.add(container);
    }
    container.isFree = false;
    let result: Result | undefined;
    const { process, context } = container;
    const answer = await endOf(
      process,
      run(process, context).then((output) => {
        result = output;
      }),
    );
    container.isFree = true;
    if (process.dead) containers.delete(container);
    return { answer, result };
  }

  async function publish(): Promise<void> {
    for (;;) {
      const { result, answer } = await invoke((_, context) => publishFrom(world, context, position));
      position += result ?? 0;
      // The stream invokes the function again when the lost call has timed out.
      if (answer === 'lost') await wait(60_000);
      else if (!result && position === world.changes.length) await world.nextSignal();
      else if (!result) await wait(1_000);
    }
  }

  return {
    request: async (run) => (await invoke((_, context) => run(context))).answer,
    crash: () => {
      for (const { process } of containers) process.die();
    },
    stop: () => {},
    sweep: {
      everyMs: 60_000,
      isDone: () => sweeping === 0,
      run: () => {
        if (sweeping > 0) return;
        sweeping = jobs.length;
        for (const job of jobs)
          void invoke((_, context) => job(context, Date.now())).then(() => {
            sweeping--;
          });
      },
    },
    publishAgain: () => {
      position = Math.max(0, position - 5);
      world.signal();
    },
    lose: () => {
      fates.push('lost');
    },
    duplicate: () => {
      fates.push('twice');
    },
    redrive: () => {
      for (const { queue, body } of deadLetters.splice(0)) enqueueMessages(queue, [{ body, delaySeconds: 0 }]);
    },
    isIdle: () => contentOf(queues).length === 0 && position === world.changes.length,
    describe: () => contentOf(queues).join(', '),
  };
}
