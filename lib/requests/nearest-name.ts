import leven from 'leven';

const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Returns the known name that is most similar to an unknown one; `undefined` if none is similar enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((other) => ({ other, distance: leven(plain(name), plain(other)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(1, Math.round(best.other.length / 3)) ? best.other : undefined;
}
