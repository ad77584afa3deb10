import { beforeEach, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import { keys } from '../../lib/table/access/keys.ts';
import { unavailable } from '../../lib/table/access/unavailable.ts';
import { insertAgent, readAgentHead } from '../../lib/table/agents/agents.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, createTestTable, type TestTable } from '../table/tasks/test-table.ts';

let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
  await insertAgent(board, board.organization, storedAgent(), undefined);
});

/** Deletes the agent with a table whose reads of executions fail. */
function deleteWhere(error: Error): Promise<void> {
  const { table } = watchedTable(board.table, ({ writes, names }) => {
    if (!writes && names(keys.executionScope(board.organization, '').rows)) throw error;
  });
  return deleteAgent({ ...board, table }, board.organization, 'writer', always);
}

it('a deletion whose executions stay in lists throws an error that says that the agent is deleted', async () => {
  const message = expect.stringMatching(/^writer is deleted, but the service is busy; its executions/);
  const error = { code: 'unavailable', message, headers: { 'Retry-After': '60' } };
  await expect(deleteWhere(unavailable())).rejects.toMatchObject(error);
  expect(await readAgentHead(board, board.organization, 'writer')).toBeUndefined();
});

it('a deletion with an unexpected error throws that error', async () => {
  await expect(deleteWhere(new TypeError('x'))).rejects.toThrow(TypeError);
});
