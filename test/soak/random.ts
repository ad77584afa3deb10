/** A source of random numbers from 0 up to 1, the same for the same seed. */
export type Random = () => number;

/** Creates the source of a seed (mulberry32: small, and even enough for a plan). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}
