import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { cancelExecution } from '../../../lib/executions/execution-control.ts';
import { runPurge } from '../../../lib/executions/purges.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { Conflict } from '../../../lib/table/access/transact.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { noProgress, type RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import {
  endExecution,
  leaseExecution,
  readExecutionHead,
  storeExecutionProgress,
} from '../../../lib/table/executions/executions.ts';
import { countLateTokens } from '../../../lib/table/executions/late-tokens.ts';
import { AgentChanged } from '../../../lib/table/executions/lease-writes.ts';
import { markExecutions } from '../../../lib/table/executions/running-executions.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { always } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable, lease } from './execution-table.ts';

let board: ExecutionTable;
/** An execution as its first worker leased it, and as a second one did after that. */
let first: RunningExecution;
let second: RunningExecution;

beforeEach(async () => {
  board = await createExecutionTable();
  first = await board.leased();
  second = (await leaseExecution(board, first, lease('second', 30))) as RunningExecution;
});

const head = async () => readExecutionHead(board, first);
const late = { tokens: 900, stored: 0 };

/** Returns the tokens of both days: the day of the late count, and the next, on which executions end. */
async function tokensOfDays(): Promise<unknown[]> {
  const item = await getItem(board.table, keys.running(board.organization));
  return [item?.['tokens2026-01-01'], item?.['tokens2026-01-02']];
}

const nextDay = { completedAt: '2026-01-02T00:00:00.000Z' };

describe('tokens of a worker that has lost its lease', () => {
  it('count on their day and at the end of the execution, which includes them once', async () => {
    await countLateTokens(board, first, { ...late, estimated: true }, at(40));
    await countLateTokens(board, first, { ...late, estimated: true }, at(41));
    expect(await tokensOfDays()).toEqual([900, undefined]);
    // The end was decided before it knew of them.
    await expect(endExecution(board, second, completed(nextDay), {})).rejects.toBeInstanceOf(Conflict);
    const now = (await head()) as RunningExecution;
    await endExecution(board, now, completed({ ...nextDay, tokensUsed: 942, tokensEstimated: true }), {});
    expect(await head()).toMatchObject({ tokensUsed: 942, tokensEstimated: true });
    expect(await tokensOfDays()).toEqual([900, 42]);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });

  it('and a mark let the end fail until the worker knows both', async () => {
    await countLateTokens(board, first, late, at(40));
    await markExecutions(board, { organization: board.organization, agentId: board.agent.id });
    const end = (known: Partial<RunningExecution>) => endExecution(board, { ...second, ...known }, completed(), {});
    const { agentMark, late: counted } = (await head()) as Required<RunningExecution>;
    await expect(end({})).rejects.toBeInstanceOf(AgentChanged);
    await expect(end({ late: counted })).rejects.toBeInstanceOf(AgentChanged);
    await expect(end({ agentMark })).rejects.toBeInstanceOf(Conflict);
    await end({ agentMark, late: counted });
    expect(await head()).toMatchObject({ status: 'completed' });
  });

  it('are stored after a mark, which lets no result be stored', async () => {
    await markExecutions(board, { organization: board.organization, agentId: board.agent.id });
    await countLateTokens(board, first, late, at(40));
    await countLateTokens(board, second, { tokens: 7, stored: 0 }, at(50));
    expect(await head()).toMatchObject({ late: { tokens: 900 }, progress: { tokens: 7 } });
  });

  it('are in an execution that is cancelled after that, and in one that had ended before', async () => {
    await countLateTokens(board, first, late, at(40));
    const context = { ...board.app, clock: board.clock };
    await cancelExecution(context, board.organization, board.agent.name, first.id, { delegated: true }, undefined);
    expect(await head()).toMatchObject({ tokensUsed: 900 });
    await countLateTokens(board, second, late, at(50));
    expect(await head()).toMatchObject({ tokensUsed: 1_800, stepCount: 1 });
    expect(await tokensOfDays()).toEqual([1_800, undefined]);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });

  it('count in the metrics of the organization if the execution is deleted, before or after', async () => {
    await countLateTokens(board, first, late, at(40));
    await storeExecutionProgress(board, second, { ...noProgress, tokens: 7 });
    await deleteAgent(board.app, board.organization, board.agent.name, always);
    await runPurge(
      { table: board.table, clock: board.clock },
      { organization: board.organization, agentId: first.agentId },
    );
    await countLateTokens(board, second, { tokens: 27, stored: 7 }, at(50));
    const metrics = await getItem(board.table, keys.metricsOfDay(board.organization, first.startedAt.slice(0, 10)));
    expect([(await tokensOfDays())[0], metrics?.tokens]).toEqual([927, 927]);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });

  it('do not count again if the response to the write that stored them is lost', async () => {
    await storeExecutionProgress(board, second, { ...noProgress, tokens: 900 });
    await countLateTokens(board, second, late, at(40));
    expect(await tokensOfDays()).toEqual([undefined, undefined]);
    await endExecution(board, (await head()) as RunningExecution, completed({ tokensUsed: 900 }), {});
    await countLateTokens(board, second, late, at(50));
    expect(await head()).toMatchObject({ tokensUsed: 900 });
    expect(await tokensOfDays()).toEqual([900, undefined]);
  });

  it.each([0, 1])('are counted once if the execution ends at request %i of the count', async (moment) => {
    const end = () => endExecution(board, second, completed(), {});
    const { table } = watchedTable(board.table, ({ nth }) => nth === moment && end());
    await countLateTokens({ table }, first, late, at(40));
    expect(await head()).toMatchObject({ status: 'completed', tokensUsed: 942 });
    expect(await tokensOfDays()).toEqual([942, undefined]);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});

it('late tokens are in all rows of an execution that is listed as version 0.2.0 did it', async () => {
  const former = await board.leased(await board.start(undefined, { isFormer: true }));
  await endExecution(board, former, completed(), {});
  await countLateTokens(board, { ...former, claim: 'lost' }, late, at(40));
  const rows = Object.values(await board.dump()).filter((item) => (item as Item).id === former.id);
  expect(rows.map((row) => (row as Item).tokensUsed)).toEqual([942, 942, 942, 942]);
  expect(await faultsOf(board.table, board.organization)).toEqual([]);
});

it('tokens of a lease holder that fails become part of the progress, and its call is not taken for a lost one', async () => {
  await countLateTokens(board, second, late, at(40));
  expect(await head()).toMatchObject({ status: 'running', progress: { tokens: 900, lost: 2 } });
  expect(await tokensOfDays()).toEqual([undefined, undefined]);
});

it.each([3, 4])('a purge counts the tokens that the worker stores at its request %i', async (moment) => {
  await deleteAgent(board.app, board.organization, board.agent.name, always);
  const store = () => storeExecutionProgress(board, second, { ...noProgress, tokens: 900 });
  const purge = { organization: board.organization, agentId: first.agentId };
  const { table } = watchedTable(board.table, ({ nth }) => nth === moment && store());
  await runPurge({ table, clock: board.clock }, purge);
  expect(await head()).toBeUndefined();
  expect(await tokensOfDays()).toEqual([900, undefined]);
});
