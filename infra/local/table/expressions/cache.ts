import { setBounded } from '../../../../lib/contract/bounded-map.ts';

/** How many parsed expressions a cache keeps. The stores have about a hundred texts, some of them with varying numbers of parts. */
const mostTexts = 1_000;

/** Returns a function that creates the value of a text once, and keeps the values of the last texts. */
export function createCache<Result>(): (text: string, create: () => Result) => Result {
  const known = new Map<string, Result>();
  return (text, create) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const created = create();
    setBounded(known, text, created, mostTexts);
    return created;
  };
}
