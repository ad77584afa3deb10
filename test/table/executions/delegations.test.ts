import { beforeEach, describe, expect, it } from 'vitest';
import { endExecution, readDelegation, readRunningExecutions } from '../../../lib/table/executions/executions.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from './execution-table.ts';

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
});
