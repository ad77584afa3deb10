import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { moveOnEnd } from '../../../lib/executions/task-moves.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { headOf } from '../../../lib/table/agents/agent-items.ts';
import { insertAgentSkill, removeAgent } from '../../../lib/table/agents/agents.ts';
import { purgeAgent } from '../../../lib/table/executions/agent-purge.ts';
import { unlistExecutions } from '../../../lib/table/executions/execution-removal.ts';
import {
  endExecution,
  leaseExecution,
  readDelegation,
  readExecutionHead,
  renewLease,
} from '../../../lib/table/executions/executions.ts';
import { LeaseLost } from '../../../lib/table/executions/lease-writes.ts';
import { readTask } from '../../../lib/table/tasks/tasks.ts';
import { deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import {
  at,
  completed,
  createExecutionTable,
  type ExecutionTable,
  failed,
  lease,
} from '../executions/execution-table.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { always } from '../tasks/test-table.ts';

/** The fields of an execution that the `nth` delegation started. */
const delegated = (delegatedBy: string, nth: number) => ({
  ...{ delegationId: `dl_01K0000000000000000000000${nth}`, delegatedBy, ancestors: [], depth: 1 },
});
const kept = delegated('reader', 0);

let board: ExecutionTable;
/** The items of the other agent, which must not change. */
let others: Record<string, unknown>;
beforeEach(async () => {
  board = await createExecutionTable();
  const { id } = await board.put();
  await board.leased(await board.startOn(id));
  const { start, newExecution } = board;
  await endExecution(board, await board.leased(await start(newExecution(kept))), completed(), { output: 'Kept.' });
  others = named(await dump(), [ulidOf(board.agent.id)]);
});

const dump = () => dumpOf(board.table, board.organization);

/** The items that name one of these ULIDs. */
function named(items: Record<string, unknown>, ulids: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(items).filter(([, item]) => ulids.some((ulid) => JSON.stringify(item).includes(ulid))),
  );
}

/** Creates an agent with executions of every kind, one of them on a task, and deletes it. */
async function deleted(name = 'reader') {
  const agent = await board.createAgent(name, { systemPrompt: 'Read.', soul: 'Calm.' });
  const { organization } = board;
  const skill = { id: 'sk_one', assignedAt: at(0) };
  await insertAgentSkill(board, organization, headOf(agent), skill);
  const { id: taskId } = await board.put();
  const execution = await board.leased(await board.startOn(taskId, agent));
  const waiting = await board.start(board.newExecution(delegated('writer', 1), agent), { isFormer: true });
  const ended = await Promise.all(
    [completed(), failed()].map(async (ending, nth) => {
      const one = await board.leased(
        await board.start(board.newExecution(delegated('writer', 2 + nth), agent), { isFormer: nth === 1 }),
      );
      await endExecution(board, one, ending, {
        output: ending.status === 'completed' ? 'x'.repeat(300_001) : undefined,
      });
      return one;
    }),
  );
  await removeAgent(board, organization, { ...headOf(agent), version: 2 }, at(60));
  return { agent, taskId, execution, all: [execution, waiting, ...ended], purge: { organization, agentId: agent.id } };
}

type Deleted = Awaited<ReturnType<typeof deleted>>;

const carryOut = (table: Table, { purge }: Deleted) =>
  purgeAgent({ table }, purge, (task, id) => moveOnEnd(task, id, 'assigned', at(90)), at(90));

/** Nothing is left of the agent, its place and task were given back once, and the other agent has all that it had. */
async function expectGone({ agent, taskId, all }: Deleted, version = 3): Promise<void> {
  const items = await dump();
  const ids = [agent.id, ...all.flatMap(({ id, delegationId = id }) => [id, delegationId])];
  // The task keeps the name and the id of the agent to which it was assigned.
  const taskKey = Object.values(keys.task(board.organization, ulidOf(taskId))).join(' ');
  expect(Object.keys(named(items, ids.map(ulidOf)))).toEqual([taskKey]);
  expect(await readDelegation(board, board.organization, kept.delegationId)).toMatchObject({
    ...{ fromAgent: agent.name, status: 'completed' },
  });
  expect(named(items, [ulidOf(board.agent.id)])).toEqual(others);
  expect((await getItem(board.table, keys.running(board.organization)))?.running).toBe(1);
  const task = await board.stored(taskId);
  expect(task).toMatchObject({
    status: 'assigned',
    assignedAgent: agent.name,
    assignedAgentId: agent.id,
    version,
    updatedAt: at(90),
  });
  expect(task).not.toHaveProperty('owner');
  expect(await faultsOf(board.table, board.organization)).toEqual([]);
}

/** Carries a purge out with a worker that is killed before its second write. Returns whether it was killed. */
async function killedAfterOneWrite(gone: Deleted): Promise<boolean> {
  let written = false;
  const { table, idle } = watchedTable(board.table, ({ writes }) => {
    if (written) throw new Error('killed');
    written = writes;
  });
  const failure: unknown = await carryOut(table, gone).catch((error: unknown) => error);
  await idle();
  if (failure !== undefined) expect(failure).toMatchObject({ message: 'killed' });
  return failure !== undefined;
}

/** Carries a purge out with workers that are killed before their second write. Returns how many were killed. */
async function purgeWithKilledWorkers(gone: Deleted, afterEach = async () => {}): Promise<number> {
  let killed = 0;
  for (; await killedAfterOneWrite(gone); killed++) await afterEach();
  return killed;
}

describe('a purge of an agent with executions', () => {
  it('leaves nothing, counts the running executions down and releases the task', async () => {
    const gone = await deleted();
    await carryOut(board.table, gone);
    await expectGone(gone);
    await carryOut(board.table, gone);
    await expectGone(gone);
  });

  it('whose workers stop after every write leaves nothing, and releases everything once', async () => {
    const gone = await deleted();
    // At least: out of the list, two that run, four partitions, the rows, four partitions of the agent, the purge.
    expect(await purgeWithKilledWorkers(gone)).toBeGreaterThanOrEqual(12);
    await expectGone(gone);
  });

  it('never lets a late worker put anything back', async () => {
    const gone = await deleted();
    await unlistExecutions(board, gone.purge);
    const found: boolean[] = [];
    const actLate = async () => {
      const before = await dump();
      const head = await readExecutionHead(board, gone.execution);
      found.push(head !== undefined);
      const execution = { ...gone.execution, claim: head?.claim ?? 'first' };
      await expect(endExecution(board, execution, completed(), { output: 'Late.' })).rejects.toThrow(LeaseLost);
      expect(await dump()).toEqual(before);
      // The lease of one that is still there may be renewed: its worker does not know of the purge.
      const leased = await leaseExecution(board, execution, lease(`late-${found.length}`, found.length * 60));
      expect(leased !== undefined).toBe(head !== undefined);
      const renewed = renewLease(board, leased ?? execution, at(found.length * 60 + 40));
      await (leased ? renewed : expect(renewed).rejects.toThrow(LeaseLost));
      if (!head) expect(await dump()).toEqual(before);
    };
    await actLate();
    await purgeWithKilledWorkers(gone, actLate);
    await actLate();
    expect([found.at(0), found.at(-1)]).toEqual([true, false]);
    await expectGone(gone);
  });

  it('by two workers, one of which makes each write just before the other, releases everything once', async () => {
    const gone = await deleted();
    let overtaken = 0;
    const { table } = watchedTable(board.table, async ({ writes }) => {
      if (writes && (await killedAfterOneWrite(gone))) overtaken += 1;
    });
    await carryOut(table, gone);
    expect(overtaken).toBeGreaterThan(0);
    await expectGone(gone);
  });
});

describe('the task of a purged execution', () => {
  /** Carries the purge out, and calls `happens` just before the transaction that releases the task. */
  async function carryOutWhile(gone: Deleted, happens: () => Promise<unknown>): Promise<void> {
    let happened = false;
    const { table } = watchedTable(board.table, async ({ writes, names }) => {
      if (happened || !writes || !names(keys.task(board.organization, ulidOf(gone.taskId)).sk)) return;
      happened = true;
      await happens();
    });
    await carryOut(table, gone);
    expect(happened).toBe(true);
  }

  it('is released as it was changed meanwhile', async () => {
    const gone = await deleted();
    await carryOutWhile(gone, () => updateTask(board, board.organization, gone.taskId, { title: 'Renamed' }, always));
    expect((await board.stored(gone.taskId)).title).toBe('Renamed');
    await expectGone(gone, 4);
  });

  it.each<[string, (taskId: string) => Promise<unknown>]>([
    ['moved', (taskId) => updateTask(board, board.organization, taskId, { status: 'done' }, always)],
    ['deleted', (taskId) => deleteTask(board, board.organization, taskId, always)],
  ])(
    'stays as it is if it was %s meanwhile; the running execution is counted down all the same',
    async (_, happens) => {
      const gone = await deleted();
      await carryOutWhile(gone, () => happens(gone.taskId));
      const task = await readTask(board, board.organization, gone.taskId);
      expect([undefined, 'done']).toContain(task?.status);
      expect((await getItem(board.table, keys.running(board.organization)))?.running).toBe(1);
      expect(await faultsOf(board.table, board.organization)).toEqual([]);
    },
  );
});
