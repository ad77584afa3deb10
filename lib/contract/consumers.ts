import type { QueueName } from './deployment.ts';

/** How records come: at most so many in a call, and so many calls at once. */
type Pace = { batchSize: number; concurrency: number };

/** What calls a function instead of a caller. */
export type Source = ({ stream: 'table'; kinds: readonly string[] } & Pace) | ({ queue: QueueName } & Pace) | Clock;
type Clock = { everySeconds: number };

/** A function that is called by sources of the deployment. */
export type Consumer = { sources: readonly Source[]; timeoutSeconds: number };

/**
 * Stream, queues and schedules to functions. The stack's event source mappings and the local pollers are both
 * derived from these rows; a row's name is its function's: `publishEvents` is `functions/pipeline/publish-events.ts`.
 */
export const consumers = {
  /** Hears changes of items whose `kind` is listed: index rows, counters and deliveries wake nobody. */
  publishEvents: {
    sources: [{ stream: 'table', kinds: ['task', 'execution', 'purge'], batchSize: 100, concurrency: 1 }],
    timeoutSeconds: 60,
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
  },
  /** One at a time in each, as many as may run by default: none that was accepted waits for another. */
  runExecution: { sources: [{ queue: 'executions', batchSize: 1, concurrency: 50 }], timeoutSeconds: 660 },
  purgeAgent: { sources: [{ queue: 'purges', batchSize: 1, concurrency: 2 }], timeoutSeconds: 300 },
  sweepOverdue: { sources: [{ everySeconds: 60 }], timeoutSeconds: 60 },
} as const satisfies Record<string, Consumer>;

/** A consumer's name in the contract. */
export type ConsumerName = keyof typeof consumers;
