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

/** Returns a whole number from `least` to `most`. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** Returns one of several values. */
export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value;
}

/** Returns the same values in a random order (Fisher and Yates). */
export function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  const order = [...values];
  for (let at = order.length - 1; at > 0; at--) {
    const other = between(random, 0, at);
    [order[at], order[other]] = [order[other] as Value, order[at] as Value];
  }
  return order;
}
