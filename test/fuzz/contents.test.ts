import { expect, it } from 'vitest';
import type { Api } from './api.ts';
import { changesBetween, readContents } from './contents.ts';

/** An organization that has nothing but tasks of these ids, of which its list says that there are so many. */
function apiWith(ids: string[], total = ids.length): Api {
  return async (_, path) => {
    const url = new URL(path, 'http://localhost');
    const offset = Number(url.searchParams.get('offset'));
    const data = url.pathname === '/api/kanban-tasks' ? ids.slice(offset).map((id) => ({ id })) : [];
    const said = url.pathname === '/api/kanban-tasks' ? total : 0;
    return { status: 200, text: JSON.stringify({ path, data, said }), data, total: said };
  };
}

it('finds a total that is more, or less, than can be walked, and what is listed twice', async () => {
  expect((await readContents(apiWith(['tk_1', 'tk_2']))).wrongTotals).toEqual([]);
  expect((await readContents(apiWith(['tk_1', 'tk_2'], 3))).wrongTotals).toEqual([
    'GET /api/kanban-tasks says 3, has 2, of which 2 are different',
  ]);
  expect((await readContents(apiWith(['tk_1', 'tk_1']))).wrongTotals).toEqual([
    'GET /api/kanban-tasks says 2, has 2, of which 1 are different',
  ]);
});

it('names the paths whose answers have changed, come or gone', async () => {
  const [before, after] = [await readContents(apiWith(['tk_1'])), await readContents(apiWith(['tk_2']))];
  expect(changesBetween(before, before)).toEqual([]);
  expect(changesBetween(before, after)).toEqual([
    '/api/kanban-tasks',
    '/api/kanban-tasks/tk_1',
    '/api/kanban-tasks/tk_2',
  ]);
});
