import { isDeepStrictEqual } from 'node:util';

/** A list with a filter: the ids that it must have, newest first, and a function that reads a page. */
export type ExpectedList = {
  filter: object;
  ids: readonly string[];
  read: (page: { limit: number; offset: number }) => Promise<{ items: { id: string }[]; total: number }>;
};

/** Returns the offsets at which the periods of a list begin: the first four characters of a ULID name its period. */
export function periodBorders(ids: readonly string[]): number[] {
  const periodOf = (id = '') => id.slice(3, 7);
  return ids.flatMap((id, at) => (at > 0 && periodOf(id) !== periodOf(ids[at - 1]) ? [at] : []));
}

/** Returns offsets to test: the start, the borders of pages and periods, the middle, the last page and past the end. */
function offsetsInto(ids: readonly string[], limit: number): number[] {
  const total = ids.length;
  const lastPage = Math.max(0, Math.ceil(total / limit) - 1) * limit;
  const around = [limit, ...periodBorders(ids).slice(0, 3)].flatMap((border) => [border - 1, border, border + 1]);
  const all = [0, 1, ...around, Math.floor(total / 2), lastPage, total - 1, total, total + 1];
  return [...new Set(all)].filter((offset) => offset >= 0 && offset <= total + 1).concat(total + 1000);
}

/** Returns the pages whose ids or total are wrong, of every list at the chosen offsets. */
export async function differences(
  lists: readonly ExpectedList[],
  limit: number,
  offsetsOf: (ids: readonly string[], limit: number) => number[] = offsetsInto,
): Promise<string[]> {
  const found: string[] = [];
  const queue = lists.values();
  const compare = async () => {
    for (const { filter, ids, read } of queue)
      for (const offset of offsetsOf(ids, limit)) {
        const { items, total } = await read({ limit, offset });
        const shown = { ids: items.map(({ id }) => id), total };
        const wanted = { ids: ids.slice(offset, offset + limit), total: ids.length };
        if (!isDeepStrictEqual(shown, wanted)) found.push(JSON.stringify({ filter, limit, offset, shown, wanted }));
      }
  };
  await Promise.all(Array.from({ length: 4 }, compare));
  return found;
}
