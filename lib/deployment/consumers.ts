import type { SecretsUse } from '../contract/endpoint.ts';
import type { QueueName, WorkQueue } from './queues.ts';

/** What calls a function instead of a caller. How a queue calls it, the deployment sets: see `polling.ts`. */
export type Source = Stream | { queue: WorkQueue } | Clock;
/** At most `batchSize` changes in a call, and `concurrency` calls at the same time for each shard. */
type Stream = { stream: 'table'; kinds: readonly string[]; batchSize: number; concurrency: number };
/** A call of its own for each job, so that one which takes long or fails keeps no other waiting. */
export type Clock = { everySeconds: number; job: Job };

/** What schedules call a function for. */
export const jobs = ['deliveries', 'executions', 'purges', 'heartbeat'] as const;
export type Job = (typeof jobs)[number];

/** A function that is called by sources of the deployment. */
export type Consumer = {
  sources: readonly Source[];
  timeoutSeconds: number;
  /** How much memory it has, and with it processor, if not as much as the others. */
  memoryMegabytes?: number;
  /** The queues that it sends to. */
  sendsTo: readonly QueueName[];
  /** What it does with the secrets of webhooks: it alone is given that right to their key. */
  secrets?: SecretsUse;
  /** It asks models, and is given the right to. */
  asksModels?: true;
};

/** The steps of the retry ladder. */
const retries = ['firstRetry', 'secondRetry', 'thirdRetry'] as const;

/**
 * Stream, queues and schedules to functions. The stack's event source mappings and the local pollers are both
 * derived from these rows; a row's name is its function's: `publishEvents` is `functions/pipeline/publish-events.ts`.
 */
export const consumers = {
  /** Hears changes of items whose `kind` is listed: index rows, counters and deliveries wake nobody. */
  publishEvents: {
    sources: [{ stream: 'table', kinds: ['task', 'execution', 'purge', 'heartbeat'], batchSize: 100, concurrency: 1 }],
    timeoutSeconds: 60,
    sendsTo: ['deliveries', 'executions', 'purges', 'deadLetters'],
  },
  /** Each queue has calls of its own: neither slow receivers nor many retries take those of first attempts. */
  deliverWebhook: {
    sources: [
      { queue: 'deliveries' },
      { queue: 'slowDeliveries' },
      { queue: 'firstRetry' },
      { queue: 'secondRetry' },
      { queue: 'thirdRetry' },
    ],
    timeoutSeconds: 30,
    // It waits for receivers nearly all its time, and memory is paid for by time.
    memoryMegabytes: 256,
    sendsTo: ['deliveries', 'slowDeliveries', ...retries],
    secrets: 'decrypts',
  },
  runExecution: {
    sources: [{ queue: 'executions' }],
    timeoutSeconds: 660,
    // It waits for a model nearly all its time.
    memoryMegabytes: 256,
    // An execution whose model throttles is sent again, for later.
    sendsTo: ['executions'],
    asksModels: true,
  },
  purgeAgent: { sources: [{ queue: 'purges' }], timeoutSeconds: 300, sendsTo: [] },
  sweepOverdue: {
    sources: [
      { everySeconds: 60, job: 'deliveries' },
      { everySeconds: 60, job: 'executions' },
      { everySeconds: 60, job: 'purges' },
      { everySeconds: 60, job: 'heartbeat' },
    ],
    timeoutSeconds: 60,
    sendsTo: ['deliveries', 'executions', 'purges', ...retries],
  },
} as const satisfies Record<string, Consumer>;

/** A consumer's name in the contract. */
export type ConsumerName = keyof typeof consumers;
