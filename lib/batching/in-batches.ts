/** Entries of one name that wait for their batch, with those who wait for what becomes of them. */
type Waiting<Entry, Result> = {
  entry: Entry;
  settle: { resolve: (result: Result) => void; reject: (error: unknown) => void }[];
};

/**
 * Returns a function that hands entries over in batches: those of one turn of the event loop go together. So code that
 * looks at one thing at a time takes as many requests as code that looks at many.
 *
 * A batch that AWS refuses for what one of its entries says is carried out again entry by entry, so that only that one fails.
 *
 * @param most how many entries a batch has at most
 * @param carryOut carries a batch out and returns the result of each entry, in their order
 * @param nameOf entries of the same name are handed over once, and share their result; without it each stands for itself
 */
export function inBatches<Entry, Result>(
  most: number,
  carryOut: (entries: Entry[]) => Promise<Result[]>,
  nameOf?: (entry: Entry) => string,
): (entry: Entry) => Promise<Result> {
  let waiting = new Map<unknown, Waiting<Entry, Result>>();

  return (entry) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(handOver);
      const name = nameOf ? nameOf(entry) : {};
      const found = waiting.get(name);
      if (found) found.settle.push({ resolve, reject });
      else waiting.set(name, { entry, settle: [{ resolve, reject }] });
    });

  function handOver(): void {
    const all = [...waiting.values()];
    waiting = new Map();
    for (let at = 0; at < all.length; at += most) void settle(all.slice(at, at + most));
  }

  async function settle(batch: Waiting<Entry, Result>[]): Promise<void> {
    try {
      const results = await carryOut(batch.map(({ entry }) => entry));
      batch.forEach(({ settle }, at) => {
        for (const { resolve } of settle) resolve(results[at] as Result);
      });
    } catch (error) {
      if (batch.length > 1 && isPermanentlyRejected(error)) for (const one of batch) await settle([one]);
      else for (const { reject } of batch.flatMap((one) => one.settle)) reject(error);
    }
  }
}

/** Whether AWS has refused a request for what it says: nothing of it was done, and it will be refused again. */
function isPermanentlyRejected(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationException';
}
