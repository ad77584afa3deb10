import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { runPurge } from '../../../lib/executions/purges.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import {
  executionItem,
  executionPartition,
  type RunningExecution,
} from '../../../lib/table/executions/execution-items.ts';
import {
  endExecution,
  leaseExecution,
  readExecutionHead,
  renewLease,
} from '../../../lib/table/executions/executions.ts';
import { LeaseLost } from '../../../lib/table/executions/lease-writes.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { conditionFailed } from '../fixtures/dynamodb-errors.ts';
import { mockTable } from '../fixtures/mock-table.ts';
import { always } from '../tasks/test-table.ts';
import {
  at,
  completed,
  createExecutionTable,
  type ExecutionTable,
  lease,
  runningExecution,
} from './execution-table.ts';

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

const due = async () => (await Array.fromAsync(readDue(board, [executionPartition], '9999'))).map(({ dueAt }) => dueAt);

async function purgeAgent(): Promise<void> {
  const { app, organization, agent } = board;
  await deleteAgent(app, organization, agent.name, always);
  await runPurge(app, { organization, agentId: agent.id });
}

/** What can happen to a leased execution before a write of its worker. */
const ends: [string, (execution: RunningExecution) => Promise<unknown>][] = [
  ['has ended', (execution) => endExecution(board, execution, completed(), {})],
  ['was purged with its agent', purgeAgent],
];

describe('a lease', () => {
  it('returns the current execution, and is counted', async () => {
    const execution = await board.start();
    const leased = await leaseExecution(board, execution, lease('first'));
    expect(leased).toEqual({ ...execution, claims: 1, claim: 'first', leaseUntil: at(30), firstLeasedAt: at(0) });
    expect(await readExecutionHead(board, execution)).toEqual(leased);
  });

  it.each([
    ['keeps the due time of a start if it expires before that', 30, 60],
    ['is due at its expiry if that is later', 30.001, 60.001],
  ])('%s', async (_, from, dueAt) => {
    const execution = await board.leased();
    await leaseExecution(board, execution, lease('second', from));
    expect(await due()).toEqual([at(dueAt)]);
  });

  it('is not taken before the lease of another worker expires, then it is taken and counted again', async () => {
    const execution = await board.leased();
    const early = async () => expect(await leaseExecution(board, execution, lease('second', 29.999))).toBeUndefined();
    expect(await board.failureOf(early)).toBeUndefined();
    const second = await leaseExecution(board, execution, lease('second', 30));
    expect(second).toEqual({ ...execution, claims: 2, claim: 'second', leaseUntil: at(60) });
  });

  it('of a clock an hour ahead is taken, and its worker cannot write any more', async () => {
    const execution = (await leaseExecution(board, await board.start(), lease('first', 3_600))) as RunningExecution;
    expect(await leaseExecution(board, execution, lease('second', 0))).toMatchObject({ leaseUntil: at(30) });
    await expect(renewLease(board, execution, at(3_660))).rejects.toThrow(LeaseLost);
  });

  it('is kept by a worker whose clock is set back while it runs, from its next renewal on', async () => {
    const execution = (await leaseExecution(board, await board.start(), lease('first', 3_600))) as RunningExecution;
    await renewLease(board, execution, at(40));
    expect(await leaseExecution(board, execution, lease('second', 30))).toBeUndefined();
  });

  it('sets the time of the first lease for an execution without one', async () => {
    const execution = await board.leased();
    const Key = keys.executionHead(execution.organization, ulidOf(execution.id));
    await transact(board.table, [{ Update: { Key, UpdateExpression: 'REMOVE firstLeasedAt' } }]);
    const third = await leaseExecution(board, execution, lease('third', 60));
    expect(third?.firstLeasedAt).toBe(at(60));
  });

  it.each(ends)('of an execution that %s is not taken, and writes nothing', async (_, happens) => {
    const execution = await board.leased();
    await happens(execution);
    const late = async () => expect(await leaseExecution(board, execution, lease('second', 9999))).toBeUndefined();
    expect(await board.failureOf(late)).toBeUndefined();
  });

  it('finds its own first try if the response to that was lost', async () => {
    const { table, dynamodb } = mockTable();
    const leased = { claim: 'first', claims: 1, leaseUntil: at(30) };
    dynamodb.rejects(conditionFailed({ ...executionItem(runningExecution(), at(30)), ...leased }));
    expect(await leaseExecution({ table }, runningExecution(), lease('first'))).toMatchObject(leased);
  });
});

it('a renewal changes only the expiry and the due time of the execution', async () => {
  const execution = await board.leased();
  await renewLease(board, execution, at(45));
  expect(await readExecutionHead(board, execution)).toEqual({ ...execution, leaseUntil: at(45) });
  expect(await due()).toEqual([at(45)]);
  expect(await leaseExecution(board, execution, lease('second', 44.999))).toBeUndefined();
});

it.each<(typeof ends)[number]>([
  ['another worker has leased', (execution) => leaseExecution(board, execution, lease('second', 30))],
  ...ends,
])('a renewal of an execution that %s is rejected, and writes nothing', async (_, happens) => {
  const execution = await board.leased();
  await happens(execution);
  expect(await board.failureOf(() => renewLease(board, execution, at(60)))).toBeInstanceOf(LeaseLost);
});
