import { expect, it } from 'vitest';
import { withSubjects } from '../../lib/executions/subjects.ts';
import { listItemOf } from '../../lib/table/executions/execution-items.ts';
import { createExecutionTable } from '../table/executions/execution-table.ts';

it('an execution that was deleted since its list was read has no start of its input', async () => {
  const board = await createExecutionTable();
  const [kept, deleted] = [await board.start(), board.newExecution()];
  const listed = [deleted, kept].map(listItemOf);
  expect(await withSubjects(board, board.organization, listed, true)).toEqual([
    listItemOf(deleted),
    { ...listItemOf(kept), inputStart: 'Do it.' },
  ]);
});
