import { beforeEach, describe, expect, it } from 'vitest';
import { moveOnStart } from '../../../lib/executions/task-moves.ts';
import { changeAgent } from '../../../lib/table/agents/agents.ts';
import { endExecution, readDelegation, readRunningExecutions } from '../../../lib/table/executions/executions.ts';
import { idempotencyRecordWrite } from '../../../lib/table/idempotency.ts';
import { transactionLimit } from '../../../lib/table/transact.ts';
import { meter } from '../fixtures/capacity.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { at, completed, createExecutionTable, type ExecutionTable, failed } from './execution-table.ts';

const delegationId = 'dl_01K00000000000000000000000';
const delegated = { delegationId, delegatedBy: 'reader', ancestors: ['ag_01K00000000000000000000000'], depth: 1 };

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

const startDelegated = () => board.start(board.newExecution(delegated));

describe('the executions of an agent that run on a task', () => {
  const runningOn = (taskId: string | undefined, table = board.table) =>
    readRunningExecutions({ table }, board.organization, board.agent.id, taskId);
  const idsOf = (executions: readonly { id: string }[]) => executions.map(({ id }) => id).sort();

  it('are read with their delegations, without executions of other tasks, of other agents, or that have ended', async () => {
    const [one, other] = [(await board.put()).id, (await board.put()).id];
    const on = (taskId?: string) => board.start(board.newExecution({ ...(taskId && { taskId }), ...delegated }));
    const [first, second] = [await on(one), await on(one)];
    const [elsewhere, none] = [await on(other), await on()];
    await board.start(board.newExecution({ taskId: one }, await board.createAgent('another')));
    for (const ending of [completed(), failed()])
      await endExecution(board, await board.leased(await on(one)), ending, {});
    expect(idsOf(await runningOn(one))).toEqual(idsOf([first, second]));
    expect(idsOf(await runningOn(other))).toEqual([elsewhere.id]);
    expect(await runningOn(undefined)).toEqual([none]);
    expect(await runningOn('tk_01K00000000000000000000000')).toEqual([]);
  });

  it('exclude executions that end or start between the read of the list and the read of the executions', async () => {
    const [stays, ends] = [await board.start(), await board.leased()];
    const { table } = watchedTable(board.table, async ({ nth }) => {
      if (nth !== 1) return;
      await endExecution(board, ends, completed(), {});
      await board.start();
    });
    expect(await runningOn(undefined, table)).toEqual([stays]);
  });
});

describe('a delegation', () => {
  const read = () => readDelegation(board, board.organization, delegationId);

  it('has the status of its execution', async () => {
    const execution = await startDelegated();
    const { agentName: toAgent } = execution;
    expect(await read()).toEqual({ delegationId, fromAgent: 'reader', toAgent, status: 'accepted' });
    const leased = await board.leased(execution);
    expect((await read())?.status).toBe('running');
    await endExecution(board, leased, failed(), {});
    expect((await read())?.status).toBe('failed');
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });

  it('is not created if its execution is not', async () => {
    await changeAgent(board, board.organization, board.agent, { ...board.agent, status: 'inactive', version: 2 });
    await expect(startDelegated()).rejects.toThrow();
    expect(await read()).toBeUndefined();
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });

  it('is created in one transaction with its execution, task change and idempotency record', async () => {
    const { id } = await board.put({ assignedAgent: 'qa-reviewer', projectId: 'proj_one' });
    const execution = board.newExecution({ ...delegated, taskId: id });
    const task = moveOnStart(await board.stored(id), execution, false, at(0));
    const request = { key: 'k', operation: 'o', path: '/', body: {} };
    const recordResponse = (answer: unknown) => idempotencyRecordWrite(board.app, board.organization, request, answer);
    const sizes = await meter(board.table).transactionsOf(() => board.start(execution, { task, recordResponse }));
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThanOrEqual(transactionLimit);
  });
});
