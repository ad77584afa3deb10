/**
 * Starts a timer that calls a function once.
 *
 * @param afterMs milliseconds until the call
 * @returns stops the timer
 */
export type StartTimer = (callback: () => void, afterMs: number) => () => void;

/** Starts a timer of the process. */
export const startTimer: StartTimer = (callback, afterMs) => {
  const timeout = setTimeout(callback, afterMs);
  return () => clearTimeout(timeout);
};
