import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import type { StoredAgent } from '../../../lib/table/agents/agent-items.ts';
import { headOf } from '../../../lib/table/agents/agent-items.ts';
import { removeAgent } from '../../../lib/table/agents/agents.ts';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../lib/table/executions/execution-lists.ts';
import { unlistExecutions } from '../../../lib/table/executions/execution-removal.ts';
import { endExecution, readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { meter } from '../fixtures/capacity.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { differences } from '../lists/model.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { at, completed, createExecutionTable, type ExecutionTable } from './execution-table.ts';
import { executionLists } from './lists/execution-model.ts';

const dayMs = 24 * 60 * 60 * 1000;
let board: ExecutionTable;
let kept: RunningExecution;
beforeEach(async () => {
  board = await createExecutionTable(200);
  kept = await board.leased();
});

/** Returns a new execution. All of a period share one counter shard, so one transaction can remove them together. */
const sameShardExecution = (agent: StoredAgent) =>
  board.newExecution({ id: `ex_${ulid(board.clock()).slice(0, 25)}0` }, agent);

/** Creates an agent with `count` leased executions, then deletes the agent. */
async function deletedWith(count: number, isFormer: boolean) {
  const agent = await board.createAgent('reader');
  const start = async () => board.leased(await board.start(sameShardExecution(agent), { isFormer }));
  const executions = await Promise.all(Array.from({ length: count }, start));
  await removeAgent(board, board.organization, headOf(agent), at(60));
  return { executions, purge: { organization: board.organization, agentId: agent.id } };
}

/** Checks that the lists have only the execution of the other agent, and that all rows and counters are correct. */
async function expectOnlyKept(): Promise<void> {
  expect(await differences(executionLists(board, [kept], [kept.agentId]), 20, () => [0])).toEqual([]);
  expect(await faultsOf(board.table, board.organization)).toEqual([]);
}

describe.each([false, true])('removing executions from the list (as version 0.2.0 wrote it: %s)', (isFormer) => {
  // Requests: four for the agent's executions, one for their rows in the organization's list, the transaction; then the last two again.
  it.each([
    [0, 'before the read of its agent’s list'],
    [2, 'between the reads of that list'],
    [4, 'before the read of its row'],
    [5, 'between the read of its row and the transaction that removes it'],
  ])('an execution that ends at request %i, %s, is removed as ended', async (moment) => {
    const { executions, purge } = await deletedWith(2, isFormer);
    const [execution] = executions as [RunningExecution];
    const end = () => endExecution(board, execution, completed(), { output: 'Done.' });
    await unlistExecutions(
      watchedTable(board.table, ({ nth }) => nth === moment && end()),
      purge,
    );
    expect((await readExecutionHead(board, execution))?.status).toBe('completed');
    await expectOnlyKept();
  });

  it.each([0, 2, 4, 5])(
    'by two workers, the second during request %i of the first, counts each execution once',
    async (moment) => {
      const { purge } = await deletedWith(3, isFormer);
      const again = () => unlistExecutions(board, purge);
      await unlistExecutions(
        watchedTable(board.table, ({ nth }) => nth === moment && again()),
        purge,
      );
      await expectOnlyKept();
    },
  );

  it('of more executions than the limit of a transaction takes several transactions', async () => {
    const { purge } = await deletedWith(60, isFormer);
    const sizes = await meter(board.table).transactionsOf(() => unlistExecutions(board, purge));
    const counter = isFormer ? 1 : 0;
    expect(sizes).toEqual([2 * 49 + counter, 2 * 11 + counter]);
    await expectOnlyKept();
  });

  it('includes those of other periods and shards, and no execution of another agent of the same name', async () => {
    const agent = await board.createAgent('reader');
    for (const day of [0, 0, 0, 0, 40, 80]) {
      const id = `ex_${ulid(board.clock() + day * dayMs)}`;
      await board.start(board.newExecution({ id }, agent), { isFormer });
    }
    await deleteAgent(board.app, board.organization, agent.name, () => {});
    await expectOnlyKept();
    const namesake = await board.createAgent('reader');
    const { id } = await board.start(board.newExecution({}, namesake));
    await unlistExecutions(board, { organization: board.organization, agentId: agent.id });
    const page = await readExecutionPage(board, board.organization, { agentId: namesake.id }, { limit: 20, offset: 0 });
    expect(page).toMatchObject({ items: [{ id }], total: 1 });
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});
