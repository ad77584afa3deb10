import { setTimeout as pause } from 'node:timers/promises';
import type { Arrival } from './arrivals.ts';
import type { Bench } from './bench.ts';
import { forkFile } from './forked.ts';
import type { Question, Said } from './receiver-process.ts';

/** A receiver in a process of its own. */
export type Receiver = {
  url: string;
  pid: number;
  /** Waits until so many deliveries have come, or none comes for half a minute, and a moment longer for what comes twice. */
  settle: (count: number) => Promise<void>;
  /** What has come since it was asked last. */
  take: () => Promise<Arrival[]>;
  /** Breaks off what hangs. */
  letGo: () => Promise<void>;
};

/** Starts the receiver of a part of the benchmark. */
export async function startReceiver(bench: Bench): Promise<Receiver> {
  const { pid, hear, ask } = forkFile<Question, Said>(bench, './receiver-process.ts');
  const { port } = await hear<{ port: number }>();
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    async settle(count) {
      let [came, lastAt] = [0, performance.now()];
      while (came < count && performance.now() < lastAt + 30_000) {
        const { count: now } = await ask<{ count: number }>('count');
        if (now > came) [came, lastAt] = [now, performance.now()];
        else await pause(20);
      }
      await pause(500);
    },
    take: async () => (await ask<{ arrivals: Arrival[] }>('take')).arrivals,
    async letGo() {
      await ask('let go');
    },
  };
}
