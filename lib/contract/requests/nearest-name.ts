import leven from 'leven';

const plain = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** The longest part of a name that is compared, in characters. */
const comparedLength = 200;

/** Returns known names, the most similar to an unknown one first. */
export function nearestFirst(name: string, known: readonly string[]): string[] {
  return ranking(name, known).map(({ other }) => other);
}

function ranking(name: string, known: readonly string[]): { other: string; distance: number }[] {
  const compared = plain(name.slice(0, comparedLength));
  return known
    .map((other) => ({ other, distance: leven(compared, plain(other)) }))
    .sort((a, b) => a.distance - b.distance);
}

/** Returns the known name that is most similar to an unknown one; `undefined` if none is similar enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const [best] = ranking(name, known);
  return best && best.distance <= Math.max(1, Math.round(best.other.length / 3)) ? best.other : undefined;
}
