/**
 * Merges sources that are in order into one. It reads ahead one entry of each.
 *
 * @param orderOf the text by which the entries of each source are in order
 */
export async function* inOrder<Entry>(
  sources: readonly AsyncIterable<Entry>[],
  orderOf: (entry: Entry) => string,
): AsyncGenerator<Entry> {
  const readers = sources.map((source) => source[Symbol.asyncIterator]());
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    let first: number | undefined;
    for (const [at, { done, value }] of heads.entries())
      if (!done && (first === undefined || orderOf(value) < orderOf(heads[first]?.value))) first = at;
    if (first === undefined) return;
    yield heads[first]?.value;
    heads[first] = (await readers[first]?.next()) as IteratorResult<Entry>;
  }
}
