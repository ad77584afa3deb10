import { expect, it } from 'vitest';
import { openMemoryDatabase } from '../../../../infra/local/table/file/open-database.ts';
import { statementOf } from '../../../../infra/local/table/reader.ts';

const database = openMemoryDatabase();
const range = {
  hash: 'p' as string | undefined,
  bounds: [
    { operator: '>=' as const, value: 'a' },
    { operator: '<=' as const, value: 'z' },
  ],
  descending: false,
  limit: 20,
  withItems: true,
};
const after = { pk: 'p', sk: 'm', due: 'p', dueAt: 'm' };

// Else the time of a page would grow with the number of items before it.
it.each<[string, Partial<Parameters<typeof statementOf>[0]>, string]>([
  ['a page of a partition', {}, 'SEARCH items USING PRIMARY KEY (pk=? AND sk>? AND sk<?)'],
  ['a next page', { after }, 'SEARCH items USING PRIMARY KEY (pk=? AND sk>? AND sk<?)'],
  ['a next page downwards', { after, descending: true }, 'SEARCH items USING PRIMARY KEY (pk=? AND sk>? AND sk<?)'],
  ['a next page of a scan', { after, hash: undefined, bounds: [] }, 'SEARCH items USING PRIMARY KEY ((pk,sk)>(?,?))'],
  ['a page of the index', { inIndex: true }, 'SEARCH items USING COVERING INDEX due (due=? AND dueAt>? AND dueAt<?)'],
  [
    'a next page of the index',
    { inIndex: true, after },
    'SEARCH items USING COVERING INDEX due (due=? AND (dueAt,pk,sk)>(?,?,?) AND dueAt<?)',
  ],
])('SQLite goes to the start of %s by the keys', (_, more, expected) => {
  const { sql, values } = statementOf({ inIndex: false, after: undefined, ...range, ...more });
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  expect(plan.map(({ detail }) => detail)).toEqual([expected]);
});
