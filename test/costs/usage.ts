/** The requests, units and log lines of an action, beside the call of its function. */
export type Usage = {
  requests: number;
  /** The number of rounds of requests that wait for one another. */
  rounds: number;
  /** Read and write units of the table; a write in a transaction takes two for each kilobyte. */
  rcu: number;
  wcu: number;
  /** Write units of the sweeper's index, which are paid beside the units of the table. */
  indexWcu: number;
  sends: number;
  /** Requests to the key of the webhooks' secrets. */
  keyUses: number;
  /** Lines of the function's log, and their bytes. */
  logLines: number;
  logBytes: number;
};

/** Returns a usage whose other counts are zero. */
export function usage(some: Partial<Usage>): Usage {
  const nothing = { requests: 0, rounds: 0, rcu: 0, wcu: 0, indexWcu: 0, sends: 0, keyUses: 0 };
  return { ...nothing, logLines: 0, logBytes: 0, ...some };
}
