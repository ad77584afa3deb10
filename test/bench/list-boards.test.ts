import { describe, expect, it } from 'vitest';
import { timeOf, ulidOf } from '../../lib/contract/ids.ts';
import { listed } from '../table/tasks/model.ts';
import { listFilters, offsetsOf, pageSize, queryOf, tasksOfBoard } from './list-boards.ts';

describe('a board that lists are measured on', () => {
  it('is the same each time', () => {
    expect(tasksOfBoard(100)).toEqual(tasksOfBoard(100));
  });

  it.each([100, 1_000])('of %i tasks is spread over a year, the oldest first', (count) => {
    const times = tasksOfBoard(count).map(({ id }) => timeOf(ulidOf(id)));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const days = ((times.at(-1) as number) - (times[0] as number)) / 86_400_000;
    expect(days).toBeGreaterThan(360);
    expect(days).toBeLessThan(366);
  });

  it.each(listFilters.map((filter) => [queryOf(filter) || 'no filter', filter] as const))(
    'has more than a page for %s, and not all where it filters',
    (_, filter) => {
      const { length } = listed(tasksOfBoard(100), filter);
      expect(length).toBeGreaterThan(pageSize);
      expect(length < 100).toBe(Object.keys(filter).length > 0);
    },
  );
});

it.each([
  [28, { first: 0, deepest: 8 }],
  [1_020, { first: 0, middle: 1000, deepest: 1_000 }],
  [100_000, { first: 0, middle: 1000, deepest: 99_980 }],
])('asks a list of %i for %j', (total, offsets) => {
  expect(offsetsOf(total)).toEqual(offsets);
});
