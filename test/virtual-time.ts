/** A simulated time. It passes only while all participants wait, so that their work takes no time. */
export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** Creates a time that advances to the end of the shortest wait when all participants wait: one runs at a time. */
export function createVirtualTime() {
  const waiting: { until: number; resume: () => void }[] = [];
  let joined = 0;
  let now = 0;
  const pass = () => {
    if (waiting.length < joined) return;
    const next = waiting.sort((a, b) => a.until - b.until).shift();
    if (!next) return;
    now = next.until;
    next.resume();
  };
  return {
    /** Returns the milliseconds that have passed. */
    now: () => now,
    /** Waits for a time in milliseconds. */
    sleep: (milliseconds: number): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ until: now + milliseconds, resume: resolve });
        pass();
      }),
    join: () => {
      joined += 1;
    },
    leave: () => {
      joined -= 1;
      pass();
    },
  };
}
