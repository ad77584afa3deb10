import type { QueueName } from './deployment.ts';

/** A function that is called by a source of the deployment instead of a caller. */
export type Consumer = {
  source: { stream: 'table'; kinds: readonly string[] } | { queue: QueueName } | { everySeconds: number };
  /** How many records a call is given at most. */
  batchSize: number;
  /** How many calls may run at once. */
  concurrency: number;
  timeoutSeconds: number;
};

/**
 * Stream, queues and schedules to functions. The stack's event source mappings and the local pollers are both
 * derived from these rows; a row's name is its function's: `publishEvents` is `functions/pipeline/publish-events.ts`.
 */
export const consumers = {
  /** Hears changes of items whose `kind` is listed: index rows, counters and deliveries wake nobody. */
  publishEvents: { source: { stream: 'table', kinds: ['task'] }, batchSize: 100, concurrency: 1, timeoutSeconds: 60 },
  deliverWebhook: { source: { queue: 'deliveries' }, batchSize: 10, concurrency: 8, timeoutSeconds: 30 },
  sweepOverdue: { source: { everySeconds: 60 }, batchSize: 1, concurrency: 1, timeoutSeconds: 60 },
} as const satisfies Record<string, Consumer>;

/** A consumer's name in the contract. */
export type ConsumerName = keyof typeof consumers;
