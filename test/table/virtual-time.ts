/** A simulated time. It passes only while all participants wait, so that their work takes no time. */
export type VirtualTime = {
  /** Waits for a time in milliseconds. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Adds a participant. */
  join: () => void;
  /** Removes a participant. */
  leave: () => void;
};

/**
 * Creates a time that does not depend on the speed of the machine. When all participants wait, it advances to the end
 * of the shortest wait. That participant continues alone until it waits again. So only one participant runs at a time.
 */
export function virtualTime(): VirtualTime {
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
    sleep: (milliseconds) =>
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
