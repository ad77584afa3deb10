import { type WorkQueue, workQueues } from '../names/queues.ts';

/**
 * How a queue invokes its function: at most `batchSize` messages in an invocation, and `concurrency` concurrent
 * invocations.
 */
export type Polling = { batchSize: number; concurrency: number };

/** The settings of a deployment that replace defaults. */
export type PollingSettings = Partial<
  Record<WorkQueue, { batchSize?: number | undefined; concurrency?: number | undefined }>
>;

/** The usual quota of concurrent Lambda invocations of an AWS account in a Region. New accounts have 10. */
export const usualLambdaConcurrency = 1_000;

/**
 * The limits of AWS for the maximum concurrency of a queue (AWS Lambda Developer Guide, "Configuring scaling
 * behavior").
 */
export const concurrencyBounds = { least: 2, most: 1_000 } as const;

/** The limits of AWS for the batch size of a standard queue without a batching window. */
export const batchSizeBounds = { least: 1, most: 10 } as const;

/**
 * The maximum share of the account's concurrency for each queue, and its batch size. All shares together are 74 %, so
 * that a quarter remains for the API, the stream and the schedules: 250 invocations at the usual quota. A request
 * takes about 50 ms, and the throttle of the API allows 100 requests per second. At small quotas, the lowest concurrency
 * that AWS accepts is larger than a share. At a quota of 41 or more, at least 23 % remain. At the quota of a new
 * account, 10, the six queues can use 12 invocations, so that API requests fail while all queues are busy.
 *
 * A receiver is slow once an attempt takes 2 s. Before that, each of its attempts can occupy an invocation for as long
 * as the receiver takes. At 50 events per second, these are up to 130 invocations, including the starts of containers.
 * Each queue of prompt attempts has this concurrency, so that attempts of other receivers can still start
 * (`test/webhooks/attempts/attempt-limits.test.ts`).
 */
const defaults: Record<WorkQueue, { share: number; batchSize: number }> = {
  deliveries: { share: 0.2, batchSize: 10 },
  /** Shared by all slow receivers; `slowAttemptsOf` limits the share of each. */
  slowDeliveries: { share: 0.05, batchSize: 10 },
  firstRetry: { share: 0.13, batchSize: 10 },
  secondRetry: { share: 0.13, batchSize: 10 },
  thirdRetry: { share: 0.13, batchSize: 10 },
  /**
   * One execution in an invocation: with more, the invocation lasts until its longest execution ends. At the usual quota,
   * the concurrency is twice the limit of an organization.
   */
  executions: { share: 0.1, batchSize: 1 },
};

/**
 * Returns how each queue invokes its function.
 *
 * @param lambdaConcurrency the account's quota of concurrent invocations, which determines the defaults
 */
export function pollingOf(
  lambdaConcurrency = usualLambdaConcurrency,
  settings: PollingSettings = {},
): Record<WorkQueue, Polling> {
  const { least, most } = concurrencyBounds;
  const rows = workQueues.map((name) => {
    const { share, batchSize } = defaults[name];
    const concurrency = Math.min(most, Math.max(least, Math.floor(lambdaConcurrency * share)));
    const set = settings[name];
    return [name, { batchSize: set?.batchSize ?? batchSize, concurrency: set?.concurrency ?? concurrency }] as const;
  });
  return Object.fromEntries(rows) as Record<WorkQueue, Polling>;
}

/**
 * Returns the maximum number of concurrent attempts of one slow webhook: half the concurrency of their queue, since
 * each attempt can be alone in its invocation. The other half remains for other slow webhooks.
 */
export function slowAttemptsOf({ slowDeliveries }: Record<WorkQueue, Polling>): number {
  return Math.floor(slowDeliveries.concurrency / 2);
}
