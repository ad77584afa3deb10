/** Groups entries into arrays of `size`; the last one may be shorter. It reads no more entries than a group needs. */
export async function* inGroups<Entry>(entries: AsyncIterable<Entry>, size: number): AsyncGenerator<Entry[]> {
  let group: Entry[] = [];
  for await (const entry of entries) {
    if (group.push(entry) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
