/** Notifies the readers of the table's stream when a call may have changed the table. */
export type ChangeSignal = {
  /** The number of changes that were signalled. */
  changes: number;
  /** The callbacks that end the current waits. */
  readonly waiting: Set<() => void>;
};

/** Creates a signal on which nothing waits. */
export function createChangeSignal(): ChangeSignal {
  return { changes: 0, waiting: new Set() };
}

/** Signals a change: ends all current waits. */
export function signalChange(signal: ChangeSignal): void {
  signal.changes += 1;
  for (const endWait of signal.waiting) endWait();
}

/**
 * Waits for the next change. Returns at once if a change was signalled since the caller read `signal.changes`.
 *
 * @param seen the value of `signal.changes` that the caller read
 * @param milliseconds the longest wait
 */
export async function waitForChange(signal: ChangeSignal, seen: number, milliseconds: number): Promise<void> {
  if (signal.changes !== seen) return;
  await new Promise<void>((resolve) => {
    const endWait = () => {
      clearTimeout(timer);
      signal.waiting.delete(endWait);
      resolve();
    };
    const timer = setTimeout(endWait, milliseconds);
    signal.waiting.add(endWait);
  });
}
