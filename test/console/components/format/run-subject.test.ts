import { expect, it } from 'vitest';
import { runSubject } from '../../../../lib/console/components/format/run-subject.ts';

it('an execution is headed by the title of its task', () => {
  expect(runSubject({ taskTitle: 'Draw the landing page', input: 'Draw.' })).toBe('Draw the landing page');
  const long = 'long '.repeat(50).trim();
  expect(runSubject({ taskTitle: long, input: 'Draw.' })).toBe(long);
});

it('an execution without a task is headed by the start of its input, in one line', () => {
  expect(runSubject({ input: '\n Write\n\tnotes ' })).toBe('Write notes');
  expect(runSubject({ input: 'a'.repeat(100) })).toBe('a'.repeat(100));
  // No character is cut in two.
  expect(runSubject({ input: '😀'.repeat(101) })).toBe(`${'😀'.repeat(99)}…`);
  expect(runSubject({ input: ' \n ' })).toBeUndefined();
});
