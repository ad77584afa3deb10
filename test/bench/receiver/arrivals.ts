/** A delivery that reached a receiver: its path, the time of its headers (ms since 1970), its id, and its event's title. */
export type Arrival = { path: string; at: number; deliveryId: string; title: string };

/**
 * Checks that each of the paths got the expected number of deliveries, each once.
 *
 * @returns a sentence for each fault
 */
export function faultsOf(arrivals: readonly Arrival[], paths: readonly string[], expected: number): string[] {
  const byPath = Map.groupBy(arrivals, ({ path }) => path);
  const faults = paths.flatMap((path) => {
    const got = byPath.get(path) ?? [];
    const distinct = new Set(got.map(({ deliveryId }) => deliveryId)).size;
    const twice = got.length - distinct;
    return [
      ...(distinct === expected ? [] : [`${path} got ${distinct} deliveries instead of ${expected}.`]),
      ...(twice > 0 ? [`${path} got ${twice} deliveries more than once.`] : []),
    ];
  });
  const strange = [...byPath.keys()].filter((path) => !paths.includes(path));
  return [...faults, ...strange.map((path) => `${path} got unexpected deliveries.`)];
}

/** Returns the time in ms since 1970, finer than `Date.now`, and the same in all processes of a machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
