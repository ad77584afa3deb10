/**
 * The token bucket of an organization's requests in one container. All containers share a bucket in the table. A
 * container counts requests itself and reports them to the shared bucket from time to time, so that few requests need
 * another request to the table. Times are Unix times in ms.
 */
export type Bucket = {
  /** The time at which the shared bucket is full again, as the last report returned it. */
  sharedFullAt: number;
  /** The same time with the requests that this container has admitted since. */
  fullAt: number;
  /** The number of requests that were admitted and not reported. It decays, so it can be a fraction. */
  unreported: number;
  /** The total time of these requests in milliseconds. */
  unreportedMs: number;
  /** The time at which the two numbers above last decayed. */
  decayedAt: number;
  /** The latest time of a request. If the clock is behind it, it was set back. */
  seenAt: number;
};

/** The bucket of an organization in one container, and its reports. */
export type RequestCount = Bucket & {
  /** The report in progress. The promise never rejects. */
  report?: Promise<void> | undefined;
  /** The earliest time of the next report, by the monotonic clock. A failed report postpones it. */
  nextReportAt: number;
};

/** The counts of a container by organization and policy, the oldest first. */
export type RequestCounts = Map<string, RequestCount>;
