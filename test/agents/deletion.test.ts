import { beforeEach, expect, it } from 'vitest';
import { createAgent, deleteAgent } from '../../lib/agents/agents.ts';
import { readAgentHead } from '../../lib/table/agents.ts';
import { keys } from '../../lib/table/keys.ts';
import { unavailable } from '../../lib/table/unavailable.ts';
import { always, type Board, openBoard } from '../table/board.ts';
import { watchedTable } from '../table/watched-table.ts';

let board: Board;
beforeEach(async () => {
  board = await openBoard();
  const texts = { displayName: 'Writer', category: 'business', systemPrompt: '', soul: '' } as const;
  const fields = { name: 'writer', ...texts, capabilities: [], status: 'active' } as const;
  await createAgent(board, board.organization, { ...fields, capabilities: [] }, undefined);
});

/** Deletes the agent over a table whose reads of executions fail. */
function deleteWhere(error: Error): Promise<void> {
  const { table } = watchedTable(board.table, ({ writes, names }) => {
    if (!writes && names(keys.executionScope(board.organization, '').rows)) throw error;
  });
  return deleteAgent({ ...board, table }, board.organization, 'writer', always);
}

it('a deletion whose executions cannot be taken out of the lists now says that the agent is deleted all the same', async () => {
  await expect(deleteWhere(unavailable())).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^writer is deleted; its executions/),
    headers: { 'Retry-After': '60' },
  });
  expect(await readAgentHead(board, board.organization, 'writer')).toBeUndefined();
});

it('a deletion that meets an error of ours tells no more of it than any other', async () => {
  await expect(deleteWhere(new TypeError('x'))).rejects.toThrow(TypeError);
});
