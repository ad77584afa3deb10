import { isDeepStrictEqual } from 'node:util';

/** Same entries that wait for their batch, and the promises of their results. `isFollowed`: a different one comes after them. */
type Waiting<Entry, Result> = {
  entry: Entry;
  isFollowed?: true;
  settle: { resolve: (result: Result) => void; reject: (error: unknown) => void }[];
};

/**
 * Returns a function that processes entries in batches: the calls of one turn of the event loop share a batch. So code that
 * handles one item at a time makes as few requests as code that handles many.
 *
 * If AWS rejects a batch as invalid, its entries are processed one by one, so that only the invalid entry fails.
 *
 * @param most the most entries of a batch
 * @param processBatch processes a batch and returns the results in the order of the entries
 * @param nameOf equal entries with the same name are processed once and share the result. A different entry with the same
 *   name is processed after it, in a later batch, and so are all that come after that one. Without it all entries are different
 */
export function inBatches<Entry, Result>(
  most: number,
  processBatch: (entries: Entry[]) => Promise<Result[]>,
  nameOf?: (entry: Entry) => string,
): (entry: Entry) => Promise<Result> {
  let waiting = new Map<unknown, Waiting<Entry, Result>>();
  return add;

  function add(entry: Entry): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    if (waiting.size === 0) setImmediate(handOver);
    const name = nameOf ? nameOf(entry) : {};
    const found = waiting.get(name);
    if (!found) waiting.set(name, { entry, settle: [{ resolve, reject }] });
    else if (!found.isFollowed && isDeepStrictEqual(found.entry, entry)) found.settle.push({ resolve, reject });
    else {
      found.isFollowed = true;
      const addAfter = () => add(entry).then(resolve, reject);
      found.settle.push({ resolve: addAfter, reject: addAfter });
    }
    return promise;
  }

  function handOver(): void {
    const all = [...waiting.values()];
    waiting = new Map();
    for (let at = 0; at < all.length; at += most) void settle(all.slice(at, at + most));
  }

  async function settle(batch: Waiting<Entry, Result>[]): Promise<void> {
    try {
      const results = await processBatch(batch.map(({ entry }) => entry));
      batch.forEach(({ settle }, at) => {
        for (const { resolve } of settle) resolve(results[at] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && isPermanentlyRejected(error)) for (const one of batch) await settle([one]);
      else for (const { reject } of batch.flatMap((one) => one.settle)) reject(error);
    }
  }
}

/** Returns whether AWS has rejected a request as invalid: it did nothing, and will reject it again. */
function isPermanentlyRejected(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationException';
}
