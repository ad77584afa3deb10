import { expect, it } from 'vitest';
import { createOperations } from '../api.ts';
import { changesBetween, readContents } from './contents.ts';

/** Creates an API whose list of tasks has these ids and this total, and whose other lists are empty. */
function apiWith(ids: string[], total = ids.length) {
  return createOperations('', async (operation, { query }) => {
    const isTasks = operation === 'listTasks';
    const data = isTasks ? ids.slice(Number(new URLSearchParams(query).get('offset'))).map((id) => ({ id })) : [];
    return { status: 200, headers: {}, body: { data, pagination: { total: isTasks ? total : 0 } } as never };
  });
}

it('finds a total that is too large or too small, and an item that is listed twice', async () => {
  expect((await readContents(apiWith(['tk_1', 'tk_2']))).wrongTotals).toEqual([]);
  expect((await readContents(apiWith(['tk_1', 'tk_2'], 3))).wrongTotals).toEqual([
    'listTasks says 3, has 2, of which 2 are different',
  ]);
  expect((await readContents(apiWith(['tk_1', 'tk_1']))).wrongTotals).toEqual([
    'listTasks says 2, has 2, of which 1 are different',
  ]);
});

it('names the requests whose responses have changed', async () => {
  const [before, after] = [await readContents(apiWith(['tk_1'])), await readContents(apiWith(['tk_2']))];
  expect(changesBetween(before, before)).toEqual([]);
  expect(changesBetween(before, after)).toEqual(['listTasks limit=100&offset=0', 'getTask tk_1', 'getTask tk_2']);
});
