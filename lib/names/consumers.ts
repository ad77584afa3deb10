import type { SecretsUse } from '../contract/endpoint.ts';
import type { QueueName, WorkQueue } from './queues.ts';

/** An event source of a function. The deployment sets how a queue is polled; see `polling.ts`. */
export type Source = Stream | { queue: WorkQueue } | Clock;
/**
 * The stream of the table: at most `batchSize` changes in an invocation, and `concurrency` concurrent invocations for
 * each shard. It has the changes of items of these kinds, except changes that leave an item as `quiet` describes, and new items
 * of the kinds `onlyNew`.
 */
type Stream = {
  stream: 'table';
  kinds: readonly string[];
  onlyNew: readonly string[];
  quiet: QuietChange;
  batchSize: number;
  concurrency: number;
};
/** A change that is never published: of an item of this kind that existed before, and whose attribute then has this value. */
export type QuietChange = { kind: string; attribute: string; value: string };
/** A schedule. Each job has its own invocations, so that a slow or failing job does not delay the others. */
export type Clock = { everySeconds: number; job: Job };

/** The jobs of the schedules. */
export const jobs = ['deliveries', 'recoveries', 'executions', 'tasks', 'purges', 'heartbeat'] as const;
export type Job = (typeof jobs)[number];

/** A function that event sources invoke. */
export type Consumer = {
  sources: readonly Source[];
  timeoutSeconds: number;
  /** The memory size, if not the default; Lambda allocates CPU in proportion to it. */
  memoryMegabytes?: number;
  /** The queues that the function sends to. */
  sendsTo: readonly QueueName[];
  /** How the function uses the secrets of webhooks. */
  secrets?: SecretsUse;
  /** The function calls models; its role gets the right to. */
  asksModels?: true;
};

/** The queues of the retry schedule, one for each retry. */
const retries = ['firstRetry', 'secondRetry', 'thirdRetry'] as const;

/**
 * The functions of the pipeline with their event sources. The event source mappings of the stack and the local pollers
 * are both derived from these rows. A row has the name of its function: `publishEvents` is
 * `functions/pipeline/publish-events.ts`.
 */
export const consumers = {
  /**
   * Receives only changes of items of these kinds: changes of list entries, counters and deliveries do not invoke it. An
   * execution publishes its start and its end. The changes in between, such as changes of its lease, are more than half.
   */
  publishEvents: {
    sources: [
      {
        stream: 'table',
        kinds: ['task', 'agent', 'execution', 'webhook-event', 'release', 'agent-wake', 'heartbeat'],
        // What users wait for begins at once, and not with the next sweep.
        onlyNew: ['redelivery', 'recovery', 'auto-recovery', 'comment', 'deleted-task'],
        quiet: { kind: 'execution', attribute: 'status', value: 'running' },
        batchSize: 100,
        concurrency: 1,
      },
    ],
    timeoutSeconds: 60,
    sendsTo: ['deliveries', 'executions', 'deadLetters'],
  },
  /** Each queue has its own concurrency, so that slow receivers and retries do not delay first attempts. */
  deliverWebhook: {
    sources: [
      { queue: 'deliveries' },
      { queue: 'slowDeliveries' },
      { queue: 'firstRetry' },
      { queue: 'secondRetry' },
      { queue: 'thirdRetry' },
    ],
    timeoutSeconds: 30,
    // The function mostly waits for receivers, and the cost is memory multiplied by time.
    memoryMegabytes: 256,
    sendsTo: ['deliveries', 'slowDeliveries', ...retries],
    secrets: 'decrypts',
  },
  runExecution: {
    sources: [{ queue: 'executions' }],
    timeoutSeconds: 660,
    // The function mostly waits for models. `npm run bench:bundles` measures what it needs.
    memoryMegabytes: 208,
    // If a model throttles, the function sends the execution to the queue again, with a delay.
    sendsTo: ['executions'],
    asksModels: true,
  },
  /** Needs no queue: the sweeper's index lists the purges, and no caller waits for them. */
  purgeAgent: { sources: [{ everySeconds: 60, job: 'purges' }], timeoutSeconds: 300, sendsTo: [] },
  sweepOverdue: {
    sources: [
      { everySeconds: 60, job: 'deliveries' },
      { everySeconds: 60, job: 'recoveries' },
      { everySeconds: 60, job: 'executions' },
      { everySeconds: 60, job: 'tasks' },
      { everySeconds: 60, job: 'heartbeat' },
    ],
    timeoutSeconds: 60,
    sendsTo: ['deliveries', 'executions', ...retries],
  },
} as const satisfies Record<string, Consumer>;

/** The name of a consumer. */
export type ConsumerName = keyof typeof consumers;

/** The kinds of items whose changes are published, and the changes of these items that are not published. */
export const published: Pick<Stream, 'kinds' | 'onlyNew' | 'quiet'> = consumers.publishEvents.sources[0];
