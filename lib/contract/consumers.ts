import type { QueueName } from './deployment.ts';
import type { SecretsUse } from './endpoint.ts';

/** How records come: at most so many in a call, and so many calls at once. */
type Pace = { batchSize: number; concurrency: number };

/** What calls a function instead of a caller. */
export type Source = ({ stream: 'table'; kinds: readonly string[] } & Pace) | ({ queue: QueueName } & Pace) | Clock;
type Clock = { everySeconds: number };

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
    sources: [{ stream: 'table', kinds: ['task', 'execution', 'purge'], batchSize: 100, concurrency: 1 }],
    timeoutSeconds: 60,
    sendsTo: ['deliveries', 'executions', 'purges', 'deadLetters'],
  },
  /** A lane for each queue: neither receivers that hang nor a wave of retries takes the places of first attempts. */
  deliverWebhook: {
    sources: [
      { queue: 'deliveries', batchSize: 10, concurrency: 8 },
      { queue: 'slowDeliveries', batchSize: 10, concurrency: 2 },
      { queue: 'firstRetry', batchSize: 10, concurrency: 2 },
      { queue: 'secondRetry', batchSize: 10, concurrency: 2 },
      { queue: 'thirdRetry', batchSize: 10, concurrency: 2 },
    ],
    timeoutSeconds: 30,
    // It waits for receivers nearly all its time, and memory is paid for by time.
    memoryMegabytes: 256,
    sendsTo: ['deliveries', 'slowDeliveries', ...retries],
    secrets: 'opens',
  },
  /** One at a time in each, as many as may run by default: none that was accepted waits for another. */
  runExecution: {
    sources: [{ queue: 'executions', batchSize: 1, concurrency: 50 }],
    timeoutSeconds: 660,
    // It waits for a model nearly all its time.
    memoryMegabytes: 256,
    sendsTo: [],
    asksModels: true,
  },
  purgeAgent: { sources: [{ queue: 'purges', batchSize: 1, concurrency: 2 }], timeoutSeconds: 300, sendsTo: [] },
  sweepOverdue: {
    sources: [{ everySeconds: 60 }],
    timeoutSeconds: 60,
    sendsTo: ['deliveries', 'executions', 'purges', ...retries],
  },
} as const satisfies Record<string, Consumer>;

/** A consumer's name in the contract. */
export type ConsumerName = keyof typeof consumers;
