import type { QueueTime } from '../../../../infra/local/queues/memory-queue.ts';

export type ManualTime = QueueTime & {
  /** Advances the time, and runs the functions that are due by then, in order. */
  pass: (seconds: number) => void;
};

/** Creates a time that changes only when a test advances it. */
export function createManualTime(): ManualTime {
  let time = Date.parse('2026-03-01T12:00:00.000Z');
  const due = new Set<{ at: number; run: () => void }>();
  return {
    now: () => time,
    after: (milliseconds, run) => {
      const entry = { at: time + milliseconds, run };
      due.add(entry);
      return () => void due.delete(entry);
    },
    pass: (seconds) => {
      const end = time + seconds * 1000;
      for (;;) {
        const [next] = [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        due.delete(next);
        time = next.at;
        next.run();
      }
      time = end;
    },
  };
}
