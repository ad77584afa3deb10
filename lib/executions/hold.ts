import { timestamp } from '../contract/ids.ts';
import type { RunningExecution } from '../table/execution-items.ts';
import { Lost } from '../table/execution-steps.ts';
import type { ExecutionStore } from '../table/executions.ts';
import type { Pause } from './asking.ts';

/** A worker has an execution in hand for so long, in milliseconds, and holds on to it so often. */
export const leaseMs = 30_000;
const renewMs = 10_000;

/** A worker's hold on an execution. */
export type Hold = {
  /** Aborts when there is nothing more to do: the time is up, or the execution is not this worker's any more. */
  signal: AbortSignal;
  /** Whether it is not this worker's any more. */
  lost: () => boolean;
  /** Waits, for as long as the execution is held. */
  pause: (milliseconds: number) => Promise<void>;
  /** Ends the hold; the lease is left to run out. */
  release: () => void;
};

/**
 * Holds on to an execution for as long as its worker works on it. A renewal that is refused aborts the work, as does a
 * lease that has run out because no renewal came through.
 *
 * @param deadline when the execution's time is up, in milliseconds since 1970
 */
export function holdOn(
  execution: RunningExecution,
  deadline: number,
  { renew, clock, pause }: Pick<ExecutionStore, 'renew'> & { clock: () => number; pause: Pause },
): Hold {
  const [released, lost, late] = [new AbortController(), new AbortController(), new AbortController()];
  void keep();
  void expire();
  return {
    signal: AbortSignal.any([lost.signal, late.signal]),
    lost: () => lost.signal.aborted,
    pause: (milliseconds) => pause(milliseconds, lost.signal),
    release: () => released.abort(),
  };

  async function keep(): Promise<void> {
    let heldUntil = Date.parse(execution.leaseUntil as string);
    while (!lost.signal.aborted) {
      await pause(renewMs, released.signal);
      // What is left of the lease is time enough to write the end; whoever takes longer is followed by another.
      if (released.signal.aborted || clock() >= deadline) return;
      const until = clock() + leaseMs;
      try {
        await renew(execution, timestamp(until));
        heldUntil = until;
      } catch (error) {
        // Another fault may have passed by the next time, if that is in time.
        if (error instanceof Lost || clock() >= heldUntil) lost.abort();
      }
    }
  }

  async function expire(): Promise<void> {
    await pause(deadline - clock(), released.signal);
    if (!released.signal.aborted) late.abort();
  }
}
