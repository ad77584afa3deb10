/** Rings once when so many milliseconds have passed, unless what it returns is called before. */
export type Alarm = (ring: () => void, afterMs: number) => () => void;

/** The alarm of the process's own time. */
export const timer: Alarm = (ring, afterMs) => {
  const timeout = setTimeout(ring, afterMs);
  return () => clearTimeout(timeout);
};
