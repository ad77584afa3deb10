/** A delivery that reached a receiver: where, when its headers came (ms since 1970), which one, and of which event. */
export type Arrival = { path: string; at: number; deliveryId: string; title: string };

/**
 * What is wrong where each of these paths should have got so many deliveries, every one of them once: a sentence for
 * each fault, none when all is well.
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
  return [...faults, ...strange.map((path) => `${path} got what nobody sent there.`)];
}

/** How long after the request for its event each delivery arrived, in ms; `sentAt` has the requests by their title. */
export function latenciesOf(arrivals: readonly Arrival[], sentAt: ReadonlyMap<string, number>): number[] {
  return arrivals.map(({ at, title }) => at - (sentAt.get(title) ?? Number.NaN));
}

/** The moment now in ms since 1970, finer than `Date.now`, and the same in all processes of a machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
