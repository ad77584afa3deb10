import { isDeepStrictEqual } from 'node:util';
import { type Key, keys } from '../../../lib/table/access/keys.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { itemName } from './organization-items.ts';

/** Items by name. */
type Items = Map<string, Item>;

/**
 * Removes the counters of each period whose sums are the same in both. Their shards may differ: after a conflict
 * writers count in another shard than the shard of the item's id.
 */
export function removeCorrectCounters(stored: Items, expected: Items): void {
  const [storedSums, expectedSums] = [sumsOf(stored), sumsOf(expected)];
  for (const items of [stored, expected])
    for (const [name, item] of items) {
      const period = periodOf(item);
      if (period && isDeepStrictEqual(storedSums.get(period), expectedSums.get(period))) items.delete(name);
    }
}

/** Returns the sums of each period's counters over its shards, without sums of 0 and periods that have only these. */
function sumsOf(items: Items): Map<string, Record<string, number>> {
  const periods = new Map<string, Record<string, number>>();
  for (const item of items.values()) {
    const period = periodOf(item);
    if (!period) continue;
    const { pk, sk, ...numbers } = item;
    const sums = { ...periods.get(period) };
    for (const [facet, number] of Object.entries(numbers)) sums[facet] = (sums[facet] ?? 0) + (number as number);
    periods.set(period, sums);
  }
  for (const [period, sums] of periods) {
    const counted = Object.entries(sums).filter(([, sum]) => sum !== 0);
    if (counted.length > 0) periods.set(period, Object.fromEntries(counted));
    else periods.delete(period);
  }
  return periods;
}

/** Returns the name of the period that a counter counts; `undefined` for any other item. */
function periodOf(item: Item): string | undefined {
  const counted = keys.counterPeriod(item as Key);
  return counted && itemName(counted);
}
