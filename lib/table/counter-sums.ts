import { isDeepStrictEqual } from 'node:util';
import { type Key, keys } from './keys.ts';
import { itemName } from './organization-items.ts';
import type { Item } from './write.ts';

/** Items by name. */
type Items = Map<string, Item>;

/**
 * Leaves out of both the counters of each epoch that come to the same in both, whatever their lanes: writers who meet
 * count in other lanes than those of the things that they count (`lanes.ts`).
 */
export function leaveWhatAddsUp(stands: Items, implied: Items): void {
  const [found, wanted] = [sumsOf(stands), sumsOf(implied)];
  for (const items of [stands, implied])
    for (const [name, item] of items) {
      const epoch = epochOf(item);
      if (epoch && isDeepStrictEqual(found.get(epoch), wanted.get(epoch))) items.delete(name);
    }
}

/** What the counters of each epoch come to over all its lanes, noughts left out; without an epoch of noughts alone. */
function sumsOf(items: Items): Map<string, Record<string, number>> {
  const epochs = new Map<string, Record<string, number>>();
  for (const item of items.values()) {
    const epoch = epochOf(item);
    if (!epoch) continue;
    const { pk: _, sk: __, ...numbers } = item;
    const sums = { ...epochs.get(epoch) };
    for (const [run, number] of Object.entries(numbers)) sums[run] = (sums[run] ?? 0) + (number as number);
    epochs.set(epoch, sums);
  }
  for (const [epoch, sums] of epochs) {
    const counted = Object.entries(sums).filter(([, sum]) => sum !== 0);
    if (counted.length > 0) epochs.set(epoch, Object.fromEntries(counted));
    else epochs.delete(epoch);
  }
  return epochs;
}

/** Names the epoch of a list that an item counts; `undefined` where it is no counter. */
function epochOf(item: Item): string | undefined {
  const counted = keys.counted(item as Key);
  return counted && itemName(counted);
}
