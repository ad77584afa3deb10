/** Time in which what is done takes none: it passes only while everybody waits. */
export type VirtualTime = {
  /** Waits these milliseconds. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Says that one more has come who must wait before time passes. */
  join: () => void;
  /** Says that one of them is done, and waits no more. */
  leave: () => void;
};

/**
 * A time that does not know how fast the machine is: when all who have joined wait, it is the moment of whoever waits
 * the shortest, who goes on alone until it waits again. So what they do, they do one after the other.
 */
export function virtualTime(): VirtualTime {
  const waiting: { until: number; goOn: () => void }[] = [];
  let joined = 0;
  let now = 0;
  const pass = () => {
    if (waiting.length < joined) return;
    const next = waiting.sort((a, b) => a.until - b.until).shift();
    if (!next) return;
    now = next.until;
    next.goOn();
  };
  return {
    sleep: (milliseconds) =>
      new Promise((resolve) => {
        waiting.push({ until: now + milliseconds, goOn: resolve });
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
