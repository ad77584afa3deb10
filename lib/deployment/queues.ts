import { environment } from './environment.ts';

/** A queue: the variable that holds its URL, and how long a received message stays hidden from other receivers. */
type QueueRow = { urlVariable: string; visibilitySeconds: number };

/** Six times what their function may take, as AWS advises for a queue that Lambda polls. */
const delivering = { visibilitySeconds: 180 };

/** The queues (docs/architecture.md#queues). */
export const queues = {
  /** First attempts. */
  deliveries: { urlVariable: environment.deliveriesQueueUrl, ...delivering },
  /** Attempts for webhooks whose receiver holds workers up, so that they hold up only each other. */
  slowDeliveries: { urlVariable: environment.slowDeliveriesQueueUrl, ...delivering },
  /** The steps of the retry ladder: what waits in one waits about equally long. */
  firstRetry: { urlVariable: environment.firstRetryQueueUrl, ...delivering },
  secondRetry: { urlVariable: environment.secondRetryQueueUrl, ...delivering },
  thirdRetry: { urlVariable: environment.thirdRetryQueueUrl, ...delivering },
  /** Executions to carry out. What a worker that died leaves behind the sweeper finds, long before it is visible again. */
  executions: { urlVariable: environment.executionsQueueUrl, visibilitySeconds: 3960 },
  /** Agents that were deleted, and of which something is left. */
  purges: { urlVariable: environment.purgesQueueUrl, visibilitySeconds: 1800 },
  /**
   * What was given up for a fault of ours: messages of all the others, and changes of the table that can never be
   * published, with keys and images. Nobody is called for them, they wait for an operator.
   */
  deadLetters: { urlVariable: environment.deadLettersQueueUrl, visibilitySeconds: 30 },
} as const satisfies Record<string, QueueRow>;

/** A message that was received so often fails for a fault of ours: it goes to the dead letters to be looked at. */
export const maxReceiveCount = 5;

/** A queue's name in the contract. */
export type QueueName = keyof typeof queues;

/** A queue that calls a function: its messages that fail too often are sent to the dead letters. */
export type WorkQueue = Exclude<QueueName, 'deadLetters'>;

/** The queues that call a function. */
export const workQueues = (Object.keys(queues) as QueueName[]).filter(
  (name): name is WorkQueue => name !== 'deadLetters',
);
