import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import { headOf } from '../../lib/table/agent-items.ts';
import { removeAgent } from '../../lib/table/agents.ts';
import type { RunningExecution } from '../../lib/table/execution-items.ts';
import { unlistExecutions } from '../../lib/table/execution-removal.ts';
import { LeaseLost } from '../../lib/table/execution-steps.ts';
import { endExecution, readExecutionHead, readExecutionPage } from '../../lib/table/executions.ts';
import { dumpOf } from '../table-dump.ts';
import { meter } from './capacity.ts';
import { at, completed, type ExecutionBoard, failed, openExecutionBoard } from './execution-board.ts';
import { faultsOf } from './oracle.ts';
import { watchedTable } from './watched-table.ts';

const dayMs = 24 * 60 * 60 * 1000;
let board: ExecutionBoard;
let kept: RunningExecution;
beforeEach(async () => {
  board = await openExecutionBoard(200);
  kept = await board.leased();
});

/** An execution whose counter row is that of every other one of its period, so that they leave together. */
const oneOf = (agent: StoredAgent) => board.newExecution({ id: `ex_${ulid(board.clock()).slice(0, 25)}0` }, agent);

/** An agent with so many executions, all in a worker's hand, that was deleted a moment ago. */
async function deletedWith(count: number, name = 'reader') {
  const agent = await board.hire(name);
  const start = async () => board.leased(await board.start(oneOf(agent)));
  const hands = await Promise.all(Array.from({ length: count }, start));
  await removeAgent(board, board.organization, headOf(agent), at(60));
  return { hands, agent, purge: { organization: board.organization, agentId: agent.id } };
}

/** What the organization's list shows and counts, whatever the status. */
async function listed() {
  const { organization } = board;
  const all = [undefined, 'running', 'completed', 'failed'] as const;
  return Promise.all(
    all.map(async (status) => {
      const { items, total } = await readExecutionPage(board, organization, { status }, { limit: 20, offset: 0 });
      return [items.map(({ id }) => id), total];
    }),
  );
}

/** Only the execution of the other agent is in the list, and every row and counter is what it must be. */
async function expectOnlyKept(): Promise<void> {
  const none = [[], 0];
  expect(await listed()).toEqual([[[kept.id], 1], [[kept.id], 1], none, none]);
  expect(await faultsOf(board.table, board.organization)).toEqual([]);
}

describe('removing executions from the list', () => {
  // Its requests: the agent's own list, the rows of the organization's, the transaction; then again the last two.
  it.each([
    [0, 'before its agent’s list is read'],
    [1, 'before its row is read'],
    [2, 'between the read of its row and the transaction that takes it out'],
  ])('an execution that ends at request %i, %s, is removed as ended', async (moment) => {
    const { hands, purge } = await deletedWith(2);
    const [hand] = hands as [RunningExecution];
    const end = () => endExecution(board, hand, completed(), { output: 'Done.' });
    await unlistExecutions(
      watchedTable(board.table, ({ nth }) => nth === moment && end()),
      purge,
    );
    expect((await readExecutionHead(board, hand))?.status).toBe('completed');
    await expectOnlyKept();
  });

  it('no worker can end an execution that was removed', async () => {
    const { hands, purge } = await deletedWith(2);
    await unlistExecutions(board, purge);
    const before = await dumpOf(board.table, board.organization);
    for (const hand of hands) await expect(endExecution(board, hand, failed(), {})).rejects.toThrow(LeaseLost);
    expect(await dumpOf(board.table, board.organization)).toEqual(before);
    await expectOnlyKept();
  });

  it('continues where one ends before each of its transactions', async () => {
    const { hands, purge } = await deletedWith(6);
    const ends = hands.slice(0, 5).values();
    const endOne = async () => {
      const { value: hand } = ends.next();
      if (hand) await endExecution(board, hand, completed(), {});
    };
    await unlistExecutions(
      watchedTable(board.table, ({ writes }) => writes && endOne()),
      purge,
    );
    const heads = await Promise.all(hands.map((hand) => readExecutionHead(board, hand)));
    expect(heads.map((head) => head?.status)).toEqual([...Array(5).fill('completed'), 'running']);
    await expectOnlyKept();
  });

  it.each([0, 1, 2])(
    'by two at once, the second while the first is at request %i, counts nothing twice',
    async (moment) => {
      const { purge } = await deletedWith(3);
      const again = () => unlistExecutions(board, purge);
      await unlistExecutions(
        watchedTable(board.table, ({ nth }) => nth === moment && again()),
        purge,
      );
      await expectOnlyKept();
    },
  );

  it('can be repeated, also by several workers at once, while executions end', async () => {
    const { hands, purge } = await deletedWith(6);
    const ends = hands.map((hand) => endExecution(board, hand, completed(), {}).catch((error) => error));
    await Promise.all([...Array.from({ length: 3 }, () => unlistExecutions(board, purge)), ...ends]);
    for (const failure of await Promise.all(ends)) expect([undefined, 'LeaseLost']).toContain(failure?.name);
    await unlistExecutions(board, purge);
    await expectOnlyKept();
  });

  it('that stopped at any request is completed by the next', async () => {
    for (let step = 0; step < 3; step++) {
      const { purge } = await deletedWith(2, `reader-${step}`);
      const killed = watchedTable(board.table, ({ nth }) => {
        if (nth >= step) throw new Error('killed');
      });
      await expect(unlistExecutions(killed, purge)).rejects.toThrow('killed');
      await unlistExecutions(board, purge);
      await expectOnlyKept();
    }
  });

  it('of more than a transaction holds takes several, none too large', async () => {
    const { purge } = await deletedWith(60);
    const sizes = await meter(board.table).transactionsOf(() => unlistExecutions(board, purge));
    expect(sizes).toEqual([2 * 49 + 1, 2 * 11 + 1]);
    await expectOnlyKept();
  });

  it('includes those of other periods and shards, and no execution of another agent of the same name', async () => {
    const agent = await board.hire('reader');
    for (const day of [0, 0, 0, 0, 40, 80]) {
      const id = `ex_${ulid(board.clock() + day * dayMs)}`;
      await board.start(board.newExecution({ id }, agent));
    }
    await deleteAgent(board.app, board.organization, agent.name, () => {});
    await expectOnlyKept();
    const namesake = await board.hire('reader');
    const { id } = await board.start(board.newExecution({}, namesake));
    await unlistExecutions(board, { organization: board.organization, agentId: agent.id });
    const { items, total } = await readExecutionPage(
      board,
      board.organization,
      { agentId: namesake.id },
      { limit: 20, offset: 0 },
    );
    expect([items.map((item) => item.id), total]).toEqual([[id], 1]);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});
