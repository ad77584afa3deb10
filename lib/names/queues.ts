import { environment } from './environment.ts';

/** A queue: the environment variable with its URL, and its visibility timeout. */
type QueueRow = { urlVariable: string; visibilitySeconds: number };

/** Six times the timeout of their function, as AWS recommends for a queue that invokes Lambda. */
const delivering = { visibilitySeconds: 180 };

/** The queues (docs/architecture.md#queues). */
export const queues = {
  /** First attempts. */
  deliveries: { urlVariable: environment.deliveriesQueueUrl, ...delivering },
  /** Attempts for webhooks with slow receivers, so that they delay only each other. */
  slowDeliveries: { urlVariable: environment.slowDeliveriesQueueUrl, ...delivering },
  /** The retries, one queue for each step of the retry schedule: all messages of a queue have about the same delay. */
  firstRetry: { urlVariable: environment.firstRetryQueueUrl, ...delivering },
  secondRetry: { urlVariable: environment.secondRetryQueueUrl, ...delivering },
  thirdRetry: { urlVariable: environment.thirdRetryQueueUrl, ...delivering },
  /**
   * Executions to run. If a worker stops, the sweeper finds its execution long before the message is visible
   * again.
   */
  executions: { urlVariable: environment.executionsQueueUrl, visibilitySeconds: 3960 },
  /**
   * The dead-letter queue: messages of all other queues that failed repeatedly because of a bug or an outage, and
   * changes of the table that can never be published, with their keys and images. It invokes no function; an operator
   * retries or deletes its messages.
   */
  deadLetters: { urlVariable: environment.deadLettersQueueUrl, visibilitySeconds: 30 },
} as const satisfies Record<string, QueueRow>;

/** The longest delay of a message, in seconds (SQS API reference, `SendMessage`). */
export const longestDelaySeconds = 900;

/** After this number of receives, SQS moves a message to the dead-letter queue. */
export const maxReceiveCount = 5;

/** The name of a queue. */
export type QueueName = keyof typeof queues;

/** A queue that invokes a function. */
export type WorkQueue = Exclude<QueueName, 'deadLetters'>;

/** The queues that invoke a function. */
export const workQueues = (Object.keys(queues) as QueueName[]).filter(
  (name): name is WorkQueue => name !== 'deadLetters',
);
