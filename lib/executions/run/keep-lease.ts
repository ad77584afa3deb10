import type { Context } from '../../context/context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { AgentHead } from '../../table/agents/agent-items.ts';
import type { AgentContext } from '../../table/agents/agents.ts';
import type { RunningExecution } from '../../table/executions/execution-items.ts';
import { readHeadWithAgent, renewLease } from '../../table/executions/executions.ts';
import { LeaseLost } from '../../table/executions/lease-writes.ts';
import { executionLeaseMs } from '../../table/lease.ts';

/** How often the lease of an execution is renewed, in milliseconds. */
const renewMs = 10_000;

/**
 * How often a worker reads whether its execution was cancelled, and whether its agent still exists and is active, in
 * milliseconds. With the time of the read, it stops within 5 seconds. The read is strongly consistent, because an older
 * state can lack the lease itself. It takes two read units; a renewal takes three write units, which cost 7.5 times as much.
 */
const lookMs = 4_000;

/** A lease that is being renewed. */
export type KeptLease = {
  /** Aborts when the worker has to stop: at the deadline, when the lease is lost, or when the agent is not active. */
  signal: AbortSignal;
  /** Returns the agent as it was last read; `undefined` before the first read. */
  agent: () => AgentHead | undefined;
  /** Whether the agent was active in each read. */
  isAgentActive: () => boolean;
  /** Whether the lease is lost. */
  lost: () => boolean;
  /** Waits until the time is over or the lease is lost. */
  pause: (milliseconds: number) => Promise<void>;
  /**
   * Returns the milliseconds since a time stamp from before the lease (Unix time, in ms). The clock may have been set in the
   * meantime.
   */
  elapsedSince: (time: number) => number;
  /** Ends the renewals. */
  stop: () => void;
};

/**
 * Renews the lease of an execution every 10 seconds. The lease is lost when the execution is cancelled, when its agent is
 * deleted, when a renewal is rejected, or when it expires because no renewal succeeded. The times in this process are times of
 * the monotonic clock: the clock may be set while the lease is kept. Other workers compare the expiry with their clocks.
 *
 * @param deadline Unix time, in ms; no renewal and no read follows it
 */
export function keepLease(
  context: AgentContext & Pick<Context, 'clock' | 'monotonic' | 'pause'>,
  execution: RunningExecution,
  deadline: number,
): KeptLease {
  const { clock, monotonic, pause } = context;
  const [keptFrom, keptAt] = [clock(), monotonic()];
  /** Returns the monotonic time of a Unix time, by the clock at the start. */
  const monotonicOf = (time: number) => keptAt + time - keptFrom;
  const endsAt = monotonicOf(deadline);
  const [stopped, lost, late] = [new AbortController(), new AbortController(), new AbortController()];
  const inactive = new AbortController();
  let agent: AgentHead | undefined;
  const ended = AbortSignal.any([stopped.signal, lost.signal]);
  void renew();
  void look();
  void expire();
  return {
    signal: AbortSignal.any([lost.signal, late.signal, inactive.signal]),
    agent: () => agent,
    isAgentActive: () => !inactive.signal.aborted,
    lost: () => lost.signal.aborted,
    pause: (milliseconds) => pause(milliseconds, lost.signal),
    elapsedSince: (time) => Math.max(0, keptFrom - time) + Math.round(monotonic() - keptAt),
    // `null` avoids an error with a stack.
    stop: () => stopped.abort(null),
  };

  async function renew(): Promise<void> {
    let leasedUntil = monotonicOf(Date.parse(execution.leaseUntil as string));
    for (;;) {
      await pause(renewMs, ended);
      // The rest of the lease is enough time to write the end. After it, another worker may continue.
      if (ended.aborted || monotonic() >= endsAt) return;
      const until = monotonic() + executionLeaseMs;
      try {
        await renewLease(context, execution, timestamp(clock() + executionLeaseMs));
        leasedUntil = until;
      } catch (error) {
        // After any other error the next renewal may succeed, before the lease expires.
        if (error instanceof LeaseLost || monotonic() >= leasedUntil) lost.abort();
      }
    }
  }

  async function look(): Promise<void> {
    for (;;) {
      await pause(lookMs, ended);
      if (ended.aborted || monotonic() >= endsAt) return;
      // If the read fails, the next read or renewal decides.
      const found = await readHeadWithAgent(context, execution).catch(() => undefined);
      if (!found) continue;
      const { head } = found;
      agent = found.agent;
      const isHeld = head?.status === 'running' && head.claim === execution.claim;
      if (!isHeld || agent?.id !== execution.agentId) lost.abort();
      else if (agent.status !== 'active') inactive.abort();
    }
  }

  async function expire(): Promise<void> {
    await pause(endsAt - keptAt, stopped.signal);
    if (!stopped.signal.aborted) late.abort();
  }
}
