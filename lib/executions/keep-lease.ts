import type { Context } from '../context.ts';
import { timestamp } from '../contract/ids.ts';
import type { RunningExecution } from '../table/executions/execution-items.ts';
import { LeaseLost } from '../table/executions/execution-steps.ts';
import { renewLease } from '../table/executions/executions.ts';

/** How long the lease of an execution lasts, and how often it is renewed, in milliseconds. */
export const leaseMs = 30_000;
const renewMs = 10_000;

/** A lease that is being renewed. */
export type KeptLease = {
  /** Aborts when the worker has to stop: at the deadline, or when the lease is lost. */
  signal: AbortSignal;
  /** Whether the lease is lost. */
  lost: () => boolean;
  /** Waits until the time is over or the lease is lost. */
  pause: (milliseconds: number) => Promise<void>;
  /** Ends the renewals. */
  stop: () => void;
};

/**
 * Renews the lease of an execution every 10 seconds. The lease is lost when a renewal is rejected, or when it expires
 * because no renewal succeeded.
 *
 * @param deadline Unix time, in ms; no renewal follows it
 */
export function keepLease(
  context: Pick<Context, 'table' | 'clock' | 'pause'>,
  execution: RunningExecution,
  deadline: number,
): KeptLease {
  const { clock, pause } = context;
  const [stopped, lost, late] = [new AbortController(), new AbortController(), new AbortController()];
  void renew();
  void expire();
  return {
    signal: AbortSignal.any([lost.signal, late.signal]),
    lost: () => lost.signal.aborted,
    pause: (milliseconds) => pause(milliseconds, lost.signal),
    stop: () => stopped.abort(),
  };

  async function renew(): Promise<void> {
    let leasedUntil = Date.parse(execution.leaseUntil as string);
    while (!lost.signal.aborted) {
      await pause(renewMs, stopped.signal);
      // The rest of the lease is enough time to write the end. After it, another worker may continue.
      if (stopped.signal.aborted || clock() >= deadline) return;
      const until = clock() + leaseMs;
      try {
        await renewLease(context, execution, timestamp(until));
        leasedUntil = until;
      } catch (error) {
        // After any other error the next renewal may succeed, before the lease expires.
        if (error instanceof LeaseLost || clock() >= leasedUntil) lost.abort();
      }
    }
  }

  async function expire(): Promise<void> {
    await pause(deadline - clock(), stopped.signal);
    if (!stopped.signal.aborted) late.abort();
  }
}
