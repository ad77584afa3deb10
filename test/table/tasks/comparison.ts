import { isDeepStrictEqual } from 'node:util';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { filters, type Known, listed, offsetsInto } from './model.ts';
import type { TestTable } from './test-table.ts';

/** Returns the differences between the lists of a board and the model, for every filter at the chosen offsets. */
export async function differences(
  board: TestTable,
  tasks: readonly Known[],
  limit: number,
  offsetsOf: (ids: readonly string[], limit: number) => number[] = offsetsInto,
): Promise<string[]> {
  const found: string[] = [];
  const queue = filters.values();
  const compare = async () => {
    for (const filter of queue) {
      const ids = listed(tasks, filter);
      for (const offset of offsetsOf(ids, limit)) {
        const page = await listTasks(board, board.organization, filter, { limit, offset });
        const shown = { ids: page.items.map(({ id }) => id), total: page.total };
        const wanted = { ids: ids.slice(offset, offset + limit), total: ids.length };
        if (!isDeepStrictEqual(shown, wanted)) found.push(JSON.stringify({ filter, limit, offset, shown, wanted }));
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, compare));
  return found;
}
