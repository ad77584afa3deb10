import { expect, it } from 'vitest';
import { unmatchedFunctions } from '../../scripts/unmatched-functions.ts';

const rows = { getTask: { path: '/api/kanban-tasks/:id' }, health: { path: '/health' } } as const;
const functions = ['functions/kanban-tasks/get-task.ts', 'functions/open/health.ts'];

it('reports nothing if each row has a function of its name', () => {
  expect(unmatchedFunctions(rows, functions)).toEqual([]);
});

it('accepts a row that the function of another row serves', () => {
  const shared = { ...rows, healthScript: { path: '/health/script.js', servedBy: 'health' } } as const;
  expect(unmatchedFunctions(shared, functions)).toEqual([]);
});

it('reports a row without a function, with the file to add', () => {
  expect(unmatchedFunctions(rows, functions.slice(1))).toEqual([
    'The row getTask has no function; add functions/kanban-tasks/get-task.ts.',
  ]);
});

it.each(['functions/kanban-tasks/get-history.ts', 'functions/open/get-task.ts', 'functions/agents/unmatched.ts'])(
  'reports %s, which has no row',
  (file) => {
    expect(unmatchedFunctions(rows, [...functions, file])).toEqual([
      `${file} has no row; declare one of its name in lib/contract, or delete the file.`,
    ]);
  },
);

it('accepts the functions that have no row: the one of the `$default` route and those of the pipeline', () => {
  const others = ['functions/open/unmatched.ts', 'functions/pipeline/publish-events.ts'];
  expect(unmatchedFunctions(rows, [...functions, ...others])).toEqual([]);
});
