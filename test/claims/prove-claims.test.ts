import { expect, it } from 'vitest';
import { overlapsOf } from './prove-claims.ts';

const holding = (task: string, from: number, until: number) => ({ task, claim: `cl_${from}`, from, until });

it('two workers have a task at the same time if one claims it before the end of the other', () => {
  expect(overlapsOf([holding('a', 0, 60_000), holding('a', 59_999, 70_000)])).toEqual([
    'a was claimed again at 1970-01-01T00:00:59.999Z, before 1970-01-01T00:01:00.000Z.',
  ]);
  expect(overlapsOf([holding('a', 0, 60_000), holding('a', 60_000, 70_000), holding('b', 0, 70_000)])).toEqual([]);
});
