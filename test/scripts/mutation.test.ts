import { expect, it } from 'vitest';
import { inSample, keepMostHits, type Mutant, scoreTable } from '../../scripts/mutation/mutants.ts';

const mutant: Mutant = {
  fileName: '/tmp/lib/tree/lib/tasks/tasks.ts',
  location: { start: { line: 9, column: 4 }, end: { line: 11, column: 5 } },
  mutatorName: 'ConditionalExpression',
  replacement: 'if (false)\n  return',
};

it('samples about the percentage of the mutants, by the seed, wherever the tree is', () => {
  const at = (line: number) => ({ start: { line, column: 0 }, end: { line, column: 9 } });
  const mutants = Array.from({ length: 2000 }, (_, line) => ({ ...mutant, location: at(line) }));
  const sample = (seed: number, fileName = mutant.fileName) =>
    mutants.filter((one) => inSample({ ...one, fileName }, seed, 10));
  expect(sample(1).length).toBeGreaterThan(140);
  expect(sample(1).length).toBeLessThan(260);
  expect(sample(2)).not.toEqual(sample(1));
  expect(sample(1, '/home/lib/tasks/tasks.ts')).toEqual(sample(1));
});

it('scores each folder and all: a mutant is found if tests fail, end with an error or take too long', () => {
  const results = ['Killed', 'RuntimeError', 'Timeout', 'Survived', 'NoCoverage'].map((status) => ({
    ...mutant,
    status,
  }));
  const table = scoreTable([...results, { ...mutant, fileName: '/tree/lib/table/items.ts', status: 'Survived' }]);
  expect(table).toContain('| lib/tasks | 5 | 2 | 1 | 1 | 1 | 60.0 % |');
  expect(table).toContain('| lib/table | 1 | 0 | 0 | 1 | 0 | 0.0 % |');
  expect(table).toContain('| lib/http | 0 | 0 | 0 | 0 | 0 | – |');
  expect(table.at(-1)).toBe('| All | 6 | 2 | 1 | 2 | 1 | 50.0 % |');
});

it.each([
  [
    'that execute a mutant most often',
    2,
    { 'one.test.ts': { a: 5, b: 1 }, 'two.test.ts': { a: 9 }, 'three.test.ts': { a: 7 } },
    { 'one.test.ts': { b: 1 }, 'two.test.ts': { a: 9 }, 'three.test.ts': { a: 7 } },
  ],
  [
    'that execute the fewest mutants, where several execute one as often',
    1,
    { 'all.test.ts': { a: 1, b: 1, c: 1 }, 'unit.test.ts': { a: 1 }, 'two.test.ts': { a: 1, b: 1 } },
    { 'unit.test.ts': { a: 1 }, 'two.test.ts': { b: 1 }, 'all.test.ts': { c: 1 } },
  ],
])('keeps the test files %s', (_, most, byFile, kept) => {
  expect(keepMostHits(byFile as Parameters<typeof keepMostHits>[0], most)).toEqual(kept);
});
