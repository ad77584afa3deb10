import { type WorkQueue, workQueues } from './deployment.ts';

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
 * 57 %: the API, the stream and the clock keep at least 40 % of every quota from 32 on. Below that quota the least
 * concurrency that AWS accepts is more than a share; at a quota of 10 the seven queues may take 14 places, so one
 * account cannot hold it and `queues` has to be used with care: the API is throttled while the queues are busy.
 */
const defaults: Record<WorkQueue, { share: number; batchSize: number }> = {
  /**
   * At the usual quota 200 calls. A receiver counts as slow after 2 s; until then 50 events a second to it take 100
   * calls, each for as long as the receiver takes, and the others still find one.
   */
  deliveries: { share: 0.2, batchSize: 10 },
  /** Slow receivers share these. */
  slowDeliveries: { share: 0.06, batchSize: 10 },
  firstRetry: { share: 0.07, batchSize: 10 },
  secondRetry: { share: 0.07, batchSize: 10 },
  thirdRetry: { share: 0.07, batchSize: 10 },
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
