import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import { headOf } from '../../lib/table/agent-items.ts';
import { removeAgent } from '../../lib/table/agents.ts';
import type { RunningExecution } from '../../lib/table/execution-items.ts';
import { leaveList } from '../../lib/table/execution-removal.ts';
import { Lost } from '../../lib/table/execution-steps.ts';
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
  kept = await board.claimed();
});

/** An execution whose counter row is that of every other one of its period, so that they leave together. */
const oneOf = (agent: StoredAgent) => board.newExecution({ id: `ex_${ulid(board.clock()).slice(0, 25)}0` }, agent);

/** An agent with so many executions, all in a worker's hand, that was deleted a moment ago. */
async function deletedWith(count: number, name = 'reader') {
  const agent = await board.hire(name);
  const start = async () => board.claimed(await board.start(oneOf(agent)));
  const hands = await Promise.all(Array.from({ length: count }, start));
  await removeAgent(board, board.organization, headOf(agent), at(60));
  return { hands, agent, purge: { organization: board.organization, agentId: agent.id } };
}

/** What the organization's list shows and counts, whatever the status. */
async function listed() {
  const { executions, organization } = board;
  const all = [undefined, 'running', 'completed', 'failed'] as const;
  return Promise.all(
    all.map(async (status) => {
      const { items, total } = await executions.list(organization, { status }, { limit: 20, offset: 0 });
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

describe('leaving the list', () => {
  // Its requests: the agent's own list, the rows of the organization's, the transaction; then again the last two.
  it.each([
    [0, 'before its agent’s list is read'],
    [1, 'before its row is read'],
    [2, 'between the read of its row and the transaction that takes it out'],
  ])('an execution that ends at request %i, %s, leaves as what it has become', async (moment) => {
    const { hands, purge } = await deletedWith(2);
    const [hand] = hands as [RunningExecution];
    const end = () => board.executions.end(hand, completed(), { output: 'Done.' });
    await leaveList(watchedTable(board.table, ({ nth }) => nth === moment && end()).table, purge);
    expect((await board.executions.head(hand))?.status).toBe('completed');
    await expectOnlyKept();
  });

  it('an execution ends no more once it has left, whoever comes', async () => {
    const { hands, purge } = await deletedWith(2);
    await leaveList(board.table, purge);
    const before = await dumpOf(board.table, board.organization);
    for (const hand of hands) await expect(board.executions.end(hand, failed(), {})).rejects.toThrow(Lost);
    expect(await dumpOf(board.table, board.organization)).toEqual(before);
    await expectOnlyKept();
  });

  it('goes on where one ends before each of its transactions', async () => {
    const { hands, purge } = await deletedWith(6);
    const ends = hands.slice(0, 5).values();
    const endOne = async () => {
      const { value: hand } = ends.next();
      if (hand) await board.executions.end(hand, completed(), {});
    };
    await leaveList(watchedTable(board.table, ({ writes }) => writes && endOne()).table, purge);
    const heads = await Promise.all(hands.map(board.executions.head));
    expect(heads.map((head) => head?.status)).toEqual([...Array(5).fill('completed'), 'running']);
    await expectOnlyKept();
  });

  it.each([0, 1, 2])(
    'by two at once, the second while the first is at request %i, counts nothing twice',
    async (moment) => {
      const { purge } = await deletedWith(3);
      const again = () => leaveList(board.table, purge);
      await leaveList(watchedTable(board.table, ({ nth }) => nth === moment && again()).table, purge);
      await expectOnlyKept();
    },
  );

  it('may be done again, and by many, while executions end', async () => {
    const { hands, purge } = await deletedWith(6);
    const ends = hands.map((hand) => board.executions.end(hand, completed(), {}).catch((error) => error));
    await Promise.all([...Array.from({ length: 3 }, () => leaveList(board.table, purge)), ...ends]);
    for (const failure of await Promise.all(ends)) expect([undefined, 'Lost']).toContain(failure?.name);
    await leaveList(board.table, purge);
    await expectOnlyKept();
  });

  it('that was killed at any request is done by the next', async () => {
    for (let step = 0; step < 3; step++) {
      const { purge } = await deletedWith(2, `reader-${step}`);
      const killed = watchedTable(board.table, ({ nth }) => {
        if (nth >= step) throw new Error('killed');
      });
      await expect(leaveList(killed.table, purge)).rejects.toThrow('killed');
      await leaveList(board.table, purge);
      await expectOnlyKept();
    }
  });

  it('of more than a transaction holds takes several, none too large', async () => {
    const { purge } = await deletedWith(60);
    const sizes = await meter(board.table).transactionsOf(() => leaveList(board.table, purge));
    expect(sizes).toEqual([2 * 49 + 1, 2 * 11 + 1]);
    await expectOnlyKept();
  });

  it('takes out what stands in other epochs and lanes, and leaves the agent’s namesake alone', async () => {
    const agent = await board.hire('reader');
    for (const day of [0, 0, 0, 0, 40, 80]) {
      const id = `ex_${ulid(board.clock() + day * dayMs)}`;
      await board.start(board.newExecution({ id }, agent));
    }
    await deleteAgent(board.app, board.organization, agent.name, () => {});
    await expectOnlyKept();
    const namesake = await board.hire('reader');
    const { id } = await board.start(board.newExecution({}, namesake));
    await leaveList(board.table, { organization: board.organization, agentId: agent.id });
    const { items, total } = await board.executions.list(
      board.organization,
      { agentId: namesake.id },
      { limit: 20, offset: 0 },
    );
    expect([items.map((item) => item.id), total]).toEqual([[id], 1]);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});
