/** The end of a worker: it is done, it failed and its message comes again, or it was killed. */
export type Ended = 'done' | 'failed' | 'dead';

/** A worker that can be killed. The table and the queues of a test carry out no call of a dead worker. */
export type KillableWorker = { dead: boolean; die: () => void };

/** Runs a worker until it is done, fails or is killed. Later results of a killed worker are ignored. */
export function runKillable(live: (worker: KillableWorker) => Promise<unknown>): Promise<Ended> {
  const { promise: killed, resolve } = Promise.withResolvers<Ended>();
  const worker: KillableWorker = {
    dead: false,
    die: () => {
      worker.dead = true;
      resolve('dead');
    },
  };
  const run = live(worker).then(
    (): Ended => 'done',
    (): Ended => 'failed',
  );
  return Promise.race([run, killed]);
}
