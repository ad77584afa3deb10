import { expect, it } from 'vitest';
import { fc } from '../../seeded.ts';
import { taskLists } from '../tasks/model.ts';
import { createTestTable } from '../tasks/test-table.ts';
import { script, write } from '../tasks/writers.ts';
import { differences } from './model.ts';

it('lists have the items of a plain model after 16 concurrent writers, for every filter and offset', async () => {
  await fc.assert(
    fc.asyncProperty(script(400), fc.constantFrom(3, 7, 20), async (steps, limit) => {
      const board = await createTestTable();
      const { tasks, missed } = await write(board, steps);
      expect(missed).toEqual([]);
      expect(await board.faults()).toEqual([]);
      expect(await differences(taskLists(board, tasks), limit)).toEqual([]);
    }),
    { numRuns: 2, endOnFailure: true },
  );
});
