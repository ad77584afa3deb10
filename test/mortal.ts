/** What became of a worker: it is done, its message comes again, or it was killed. */
export type Ended = 'done' | 'failed' | 'dead';

/** A worker that can be killed. Whoever carries out its calls looks whether it is dead. */
export type Mortal = { dead: boolean; die: () => void };

/** Runs a worker until it is done, fails or is killed: what a dead one still does is nobody's. */
export function runMortal(live: (mortal: Mortal) => Promise<unknown>): Promise<Ended> {
  const { promise: death, resolve } = Promise.withResolvers<Ended>();
  const mortal: Mortal = {
    dead: false,
    die: () => {
      mortal.dead = true;
      resolve('dead');
    },
  };
  const life = live(mortal).then(
    (): Ended => 'done',
    (): Ended => 'failed',
  );
  return Promise.race([life, death]);
}
