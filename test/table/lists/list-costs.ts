import { isDeepStrictEqual } from 'node:util';
import type { Cost, meter } from '../fixtures/capacity.ts';
import { type ExpectedList, periodBorders } from './model.ts';

/** How many items a page has. */
export const limit = 20;

/** Returns the offsets of the middle, the last page, and the end of the fullest period, which reads most rows. */
export function deepOffsets(ids: readonly string[]): number[] {
  const borders = [0, ...periodBorders(ids), ids.length];
  const sizes = borders.map((border, at) => border - (borders[at - 1] ?? 0));
  const fullest = borders[sizes.indexOf(Math.max(...sizes))] ?? 0;
  const offsets = [Math.floor(ids.length / 2), ids.length - 1 - ((ids.length - 1) % limit), fullest - 1];
  return [...new Set(offsets)].filter((offset) => offset > 0);
}

/** Returns the ids on the first page of each list and at its deep offsets. */
export function idsOnPages(lists: readonly ExpectedList[]): Set<string> {
  return new Set(lists.flatMap(({ ids }) => [0, ...deepOffsets(ids)].flatMap((from) => ids.slice(from, from + limit))));
}

/** Returns the pages that cost too much or have wrong entries. */
export async function wrongPages(
  lists: readonly ExpectedList[],
  { costOf }: ReturnType<typeof meter>,
  most: Omit<Cost, 'wcu'>,
  offsetsOf: (ids: readonly string[]) => number[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { filter, ids, read } of lists)
    for (const offset of offsetsOf(ids)) {
      const pages: Awaited<ReturnType<typeof read>>[] = [];
      const cost = await costOf(async () => pages.push(await read({ limit, offset })));
      const shown = pages.map(({ items, total }) => ({ ids: items.map(({ id }) => id), total }));
      const right = isDeepStrictEqual(shown, [{ ids: ids.slice(offset, offset + limit), total: ids.length }]);
      const units = Object.keys(cost) as (keyof Cost)[];
      const expensive = units.some((unit) => cost[unit] > { ...most, wcu: 0 }[unit]);
      if (expensive || !right) found.push(JSON.stringify({ filter, offset, cost, right }));
    }
  return found;
}
