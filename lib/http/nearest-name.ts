import leven from 'leven';

const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '');

/** Returns the known name that an unknown one was probably meant to be: the same in another spelling, or a slip or two away. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((other) => ({ other, distance: leven(plain(name), plain(other)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(1, Math.round(best.other.length / 3)) ? best.other : undefined;
}
