import { expect, it } from 'vitest';
import { fc } from '../../seeded.ts';
import { taskLists } from '../tasks/model.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { createTestTable } from '../tasks/test-table.ts';
import { script, write } from '../tasks/writers.ts';
import { differences } from './model.ts';

/** The offsets of the first page, of the second one, and of the end. */
const fewOffsets = ({ length }: readonly string[], limit: number) => [...new Set([0, Math.min(limit, length), length])];

// listing.slow.test.ts runs more steps.
it('lists have the items of a plain model after 16 concurrent writers, for every filter and offset', async () => {
  await fc.assert(
    fc.asyncProperty(script(40), async (steps) => {
      const board = await createTestTable();
      const { tasks, missed } = await write(board, steps);
      expect(missed).toEqual([]);
      expect(await faultsOf(board.table, board.organization)).toEqual([]);
      expect(await differences(taskLists(board, tasks), 4, fewOffsets)).toEqual([]);
    }),
    { numRuns: 1, endOnFailure: true },
  );
});
