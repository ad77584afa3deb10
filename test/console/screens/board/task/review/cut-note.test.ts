import { expect, it } from 'vitest';
import { cutNote } from '../../../../../../lib/console/screens/board/task/review/cut-note.ts';

it('an output is cut if it is shorter than its length, in characters and not in UTF-16 units', () => {
  expect(cutNote('😀😀', 2)).toBeUndefined();
  expect(cutNote(undefined, 0)).toBeUndefined();
  expect(cutNote('😀'.repeat(1_200), 65_000)).toBe('The first 1,200 of 65,000 characters. The run has all of them.');
});
