import { beforeEach, expect, it } from 'vitest';
import { createAgent, deleteAgent } from '../../lib/agents/agents.ts';
import { readAgentHead } from '../../lib/table/agents/agents.ts';
import { keys } from '../../lib/table/keys.ts';
import { unavailable } from '../../lib/table/unavailable.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, createTestTable, type TestTable } from '../table/tasks/test-table.ts';

let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
  const texts = { displayName: 'Writer', category: 'business', systemPrompt: '', soul: '' } as const;
  const fields = { name: 'writer', ...texts, capabilities: [], status: 'active' } as const;
  await createAgent(board, board.organization, { ...fields, capabilities: [] }, undefined);
});

/** Deletes the agent with a table whose reads of executions fail. */
function deleteWhere(error: Error): Promise<void> {
  const { table } = watchedTable(board.table, ({ writes, names }) => {
    if (!writes && names(keys.executionScope(board.organization, '').rows)) throw error;
  });
  return deleteAgent({ ...board, table }, board.organization, 'writer', always);
}

it('a deletion whose executions stay in lists throws an error that says that the agent is deleted', async () => {
  await expect(deleteWhere(unavailable())).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^writer is deleted, but the service is busy; its executions/),
    headers: { 'Retry-After': '60' },
  });
  expect(await readAgentHead(board, board.organization, 'writer')).toBeUndefined();
});

it('a deletion with an unexpected error throws that error', async () => {
  await expect(deleteWhere(new TypeError('x'))).rejects.toThrow(TypeError);
});
