import { expect, it } from 'vitest';
import { columns, labelled } from '../../../infra/cli/columns.ts';

const rows = [
  ['id', 'title', 'status'],
  ['tk_1', 'Draw the landing page', 'backlog'],
  ['tk_2', 'Build', 'done'],
];

it('makes each column as wide as its widest field', () => {
  expect(columns(rows).split('\n')).toEqual([
    'id    title                  status',
    'tk_1  Draw the landing page  backlog',
    'tk_2  Build                  done',
  ]);
});

it('shortens one column to the width of the terminal, and leaves it whole if the width is unknown', () => {
  expect(columns(rows, { width: 30, flexible: 1 }).split('\n')).toEqual([
    'id    title            status',
    'tk_1  Draw the landi…  backlog',
    'tk_2  Build            done',
  ]);
  expect(columns(rows, { width: undefined, flexible: 1 })).toBe(columns(rows));
  expect(columns(rows, { width: 100, flexible: 1 })).toBe(columns(rows));
});

it('leaves out the last columns of a terminal that is too narrow, but neither the ids nor the shortened column', () => {
  const [heading, first] = columns(rows, { width: 24, flexible: 1 }).split('\n');
  expect([heading, first]).toEqual(['id    title', 'tk_1  Draw the landing …']);
  expect(columns(rows, { width: 5, flexible: 1 })).toContain('tk_1  Draw the …\n');
  // The shortened column stays at its place, and what is right of it goes first.
  expect(columns(rows, { width: 16, flexible: 2 }).split('\n')[1]).toBe('tk_1  backlog');
});

it('counts the columns of the terminal that wide characters take, and cuts none in two', () => {
  const wide = columns(
    [
      ['title', 'n'],
      ['猫👩‍👩‍👧cafe\u0301s and so on', '1'],
    ],
    { width: 13, flexible: 0 },
  );
  expect(wide.split('\n')).toEqual(['title       n', '猫👩‍👩‍👧cafe\u0301s…  1']);
});

it('puts values beside their labels, indents further lines, and leaves out labels without a value', () => {
  const text = labelled([
    ['id', 'tk_1'],
    ['agent', undefined],
    ['description', 'One.\nTwo.'],
  ]);
  expect(text.split('\n')).toEqual(['id           tk_1', 'description  One.', '             Two.']);
});
