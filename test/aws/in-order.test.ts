import { expect, it } from 'vitest';
import { inOrder } from '../../lib/aws/in-order.ts';

async function* source(...entries: string[]) {
  yield* entries;
}
const merged = (...sources: string[][]) =>
  Array.fromAsync(
    inOrder(
      sources.map((entries) => source(...entries)),
      (entry) => entry,
    ),
  );

it('sources that are in order become one, also if some are empty or end early', async () => {
  expect(await merged(['a', 'd', 'e'], [], ['b', 'c', 'f'], ['c'])).toEqual(['a', 'b', 'c', 'c', 'd', 'e', 'f']);
  expect(await merged([], [])).toEqual([]);
  expect(await merged()).toEqual([]);
});

it('a source is read one entry ahead', async () => {
  const read: string[] = [];
  async function* noted(...entries: string[]) {
    for (const entry of entries) {
      read.push(entry);
      yield entry;
    }
  }
  const entries = inOrder([noted('a', 'c', 'e'), noted('b', 'd')], (entry) => entry);
  expect([(await entries.next()).value, (await entries.next()).value]).toEqual(['a', 'b']);
  expect(read.toSorted()).toEqual(['a', 'b', 'c']);
});
