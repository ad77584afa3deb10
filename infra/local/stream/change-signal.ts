/** Says to who waits that there may be something to look at. */
export type Bell = ReturnType<typeof openBell>;

/** Opens a bell. */
export function openBell() {
  let rings = 0;
  const waiting = new Set<() => void>();
  return {
    ring(): void {
      rings += 1;
      for (const goOn of waiting) goOn();
    },

    /** How often it has rung. */
    rings: () => rings,

    /** Waits until it rings, but no longer than these milliseconds; not at all where it has rung since it had so often. */
    async wait(since: number, milliseconds: number): Promise<void> {
      if (rings !== since) return;
      await new Promise<void>((resolve) => {
        const goOn = () => {
          clearTimeout(timer);
          waiting.delete(goOn);
          resolve();
        };
        const timer = setTimeout(goOn, milliseconds);
        waiting.add(goOn);
      });
    },
  };
}
