import { expect, it } from 'vitest';
import { circularRooms, roomOf } from '../../../scripts/imports/circles.ts';
import { importing } from '../../lint/lint.ts';

it.each([
  ['lib/tasks/claims/a.ts', 'lib/tasks'],
  ['lib/table/tasks/a.ts', 'lib/table/tasks'],
  ['lib/table/lease.ts', 'lib/table'],
  ['infra/problem.ts', 'infra/problem.ts'],
  ['infra/cli/api/a.ts', 'infra/cli'],
  ['functions/tasks/a.ts', 'functions'],
])('the room of %s is %s', (path, room) => {
  expect(roomOf(path)).toBe(room);
});

it('rooms that import each other, also by a third one, are a circle; others are none', () => {
  expect(
    circularRooms([
      ['lib/a/one.ts', importing('../b/one.ts')],
      ['lib/a/two.ts', importing('./one.ts')],
      ['lib/b/one.ts', importing('../c/one.ts')],
      ['lib/c/one.ts', importing('../a/two.ts')],
      ['lib/d/one.ts', importing('../a/one.ts')],
      ['lib/table/x/one.ts', importing('../y/one.ts')],
      ['lib/table/y/one.ts', importing('../x/one.ts')],
    ]),
  ).toEqual([
    ['lib/a', 'lib/b', 'lib/c'],
    ['lib/table/x', 'lib/table/y'],
  ]);
});
