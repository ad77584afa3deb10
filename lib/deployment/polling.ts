import { type WorkQueue, workQueues } from './queues.ts';

/** How a queue calls its function: at most `batchSize` messages in a call, and `concurrency` calls at the same time. */
export type Polling = { batchSize: number; concurrency: number };

/** What a deployment sets instead of the defaults, for each queue that it names. */
export type PollingSettings = Partial<
  Record<WorkQueue, { batchSize?: number | undefined; concurrency?: number | undefined }>
>;

/** How many functions an AWS account runs at the same time in a region, unless its quota differs: new accounts have 10. */
export const usualLambdaConcurrency = 1_000;

/** The bounds of AWS for the maximum concurrency of a queue (AWS Lambda Developer Guide, "Configuring scaling behavior"). */
export const concurrencyBounds = { least: 2, most: 1_000 } as const;

/** The bounds of AWS for the batch of a standard queue that has no batching window. */
export const batchSizeBounds = { least: 1, most: 10 } as const;

/**
 * The share of the account's concurrency that each queue takes at most, and its batch size. All shares together are
 * 74 %, so that the API, the stream and the clock keep a quarter: at the usual quota 250 calls, where a request takes
 * some 50 ms and the API's throttle lets 100 a second pass. At small quotas the least concurrency that AWS accepts is more
 * than a share: from 41 on 23 % are left, and at the 10 of a new account the seven queues may take 14 calls, so that
 * requests are refused while all queues are busy.
 *
 * A receiver counts as slow once an attempt has lasted 2 s. Until then each of its attempts can hold up a call for as
 * long as the receiver takes, so 50 events a second take up to 130 calls, with the starts of containers. Each queue of
 * prompt attempts has as many, so that another receiver's attempt still finds one (`test/webhooks/isolation.test.ts`).
 */
const defaults: Record<WorkQueue, { share: number; batchSize: number }> = {
  deliveries: { share: 0.2, batchSize: 10 },
  /** Slow receivers share these; `slowAttemptsOf` keeps one of them from taking all. */
  slowDeliveries: { share: 0.05, batchSize: 10 },
  firstRetry: { share: 0.13, batchSize: 10 },
  secondRetry: { share: 0.13, batchSize: 10 },
  thirdRetry: { share: 0.13, batchSize: 10 },
  /** One in a call, since a call lasts as long as its longest execution. At the usual quota twice what an organization may run. */
  executions: { share: 0.1, batchSize: 1 },
  /** Nobody waits for a purge: it takes the least. */
  purges: { share: 0, batchSize: 1 },
};

/**
 * Returns how each queue calls its function.
 *
 * @param lambdaConcurrency the account's quota of concurrent functions, from which defaults are derived
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
 * Returns how many attempts of one slow webhook may run at the same time: half of the calls of their queue, since each
 * attempt can be alone in its call. So one slow webhook leaves the other half to the others.
 */
export function slowAttemptsOf({ slowDeliveries }: Record<WorkQueue, Polling>): number {
  return Math.floor(slowDeliveries.concurrency / 2);
}
