import type { Context } from '../../context/context.ts';
import { consumers } from '../../names/consumers.ts';

/** The end of the time of a worker, before its invocation of Lambda ends. Another worker then continues. */
export type HandOver = {
  /** Whether the worker should begin no further step. */
  isDue: () => boolean;
  /** Aborts the model call in which the worker is. */
  signal: AbortSignal;
  stop: () => void;
};

/** The time before the end of an invocation that is left to return the lease, in milliseconds. */
const reserveMs = 60_000;

/** A worker interrupts its model call after this time, in milliseconds. */
const workerMs = consumers.runExecution.timeoutSeconds * 1000 - reserveMs;

/** A worker begins no further step after this time, in milliseconds: each model call has at least the rest. */
const lastStepMs = workerMs / 2;

/** How often a model call can be interrupted. The second time, it had the whole time of a worker. */
export const maxInterruptions = 2;
export const noAnswerInTime = 'The model did not answer in time.';

/** Never hands over: for workers without a time of their own. */
export const noHandOver: HandOver = { isDue: () => false, signal: new AbortController().signal, stop: () => {} };

/** Returns whether a call was interrupted because the time of the worker is over, not because of `signal`. */
export function isTimeOver(signal: AbortSignal, handOver: HandOver): boolean {
  return handOver.signal.aborted && !signal.aborted;
}

/**
 * Starts the time of a worker. An execution can take longer than an invocation of Lambda, so its workers hand it over. A
 * worker does not hand over an execution whose deadline is before the end of its own time.
 *
 * @param deadline Unix time, in ms
 */
export function startHandOver(
  { clock, monotonic, pause }: Pick<Context, 'clock' | 'monotonic' | 'pause'>,
  deadline: number,
): HandOver {
  const startedAt = monotonic();
  if (deadline <= clock() + workerMs) return noHandOver;
  const [stopped, over] = [new AbortController(), new AbortController()];
  void pause(workerMs, stopped.signal).then(() => {
    if (!stopped.signal.aborted) over.abort();
  });
  return { isDue: () => monotonic() >= startedAt + lastStepMs, signal: over.signal, stop: () => stopped.abort(null) };
}
