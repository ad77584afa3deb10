import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunningExecution } from '../../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../../lib/table/executions/execution-lists.ts';
import { endExecution, readDelegation } from '../../../../lib/table/executions/executions.ts';
import { readRunningExecutions } from '../../../../lib/table/executions/running-executions.ts';
import { fc } from '../../../seeded.ts';
import { watchedTable } from '../../fixtures/watched-table.ts';
import { differences } from '../../lists/model.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from '../execution-table.ts';
import { executionLists } from './execution-model.ts';
import { executionsAmong } from './execution-oracle.ts';

const dayMs = 24 * 60 * 60 * 1000;

const ending = fc.record({ tokensUsed: fc.nat(100_000), durationMs: fc.oneof(fc.nat(20), fc.nat(600_000)) });
const start = fc.record({
  do: fc.constant('start' as const),
  ...{ day: fc.nat(150), agent: fc.nat(1), isFormer: fc.boolean() },
});
const end = fc.record({ do: fc.constant('end' as const), target: fc.nat(1000), fails: fc.boolean(), ending });

/** A step of a worker: start an execution on a day, or end a running one. */
const step = fc.oneof({ weight: 3, arbitrary: start }, { weight: 2, arbitrary: end });

it('lists and metrics equal those of a model after steps of 8 concurrent workers, for every filter', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 60 }), async (steps) => {
      const board = await createExecutionTable();
      const { clock } = board;
      const agents = [board.agent, await board.createAgent('reader')];
      const executing: RunningExecution[] = [];
      const ended: string[] = [];
      const queue = steps.values();
      const worker = async () => {
        for (const one of queue)
          if (one.do === 'start') {
            const id = `ex_${ulid(clock() + one.day * dayMs)}`;
            const { isFormer } = one;
            executing.push(
              await board.leased(await board.start(board.newExecution({ id }, agents[one.agent]), { isFormer })),
            );
          } else {
            const [execution] = executing.splice(one.target % Math.max(1, executing.length), 1);
            if (!execution) continue;
            await endExecution(board, execution, one.fails ? failed(one.ending) : completed(one.ending), {});
            ended.push(execution.id);
          }
      };
      await Promise.all(Array.from({ length: 8 }, worker));

      expect(await board.faults()).toEqual([]);
      const heads = executionsAmong(await board.dump());
      const running = heads.filter(({ status }) => status === 'running').map(({ id }) => id);
      expect(running.sort()).toEqual(executing.map(({ id }) => id).sort());
      expect(heads).toHaveLength(executing.length + ended.length);
      const agentIds = agents.map(({ id }) => id);
      expect(await differences(executionLists(board, heads, agentIds), 4)).toEqual([]);
    }),
    { seed: 4, numRuns: 1, endOnFailure: true },
  );
});

const delegationId = 'dl_01K00000000000000000000000';
const delegated = { delegationId, delegatedBy: 'reader', ancestors: ['ag_01K00000000000000000000000'], depth: 1 };

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

describe.each([false, true])('a list of all executions of an agent (as version 0.2.0 wrote it: %s)', (isFormer) => {
  const start = async () => board.leased(await board.start(undefined, { isFormer }));
  const page = ({ table }: Pick<ExecutionTable, 'table'> = board, offset = 0) =>
    readExecutionPage({ table }, board.organization, { agentId: board.agent.id }, { limit: 20, offset });

  it.each(Array.from({ length: 8 }, (_, nth) => nth))(
    'has each once and counts each once, though one ends just before request %i of the read',
    async (moment) => {
      const [ends, stays] = [await start(), await start()];
      for (const offset of [0, 1]) {
        const { table } = watchedTable(board.table, async ({ nth }) => {
          if (offset === 0 && nth === moment) await endExecution(board, ends, completed(), {});
        });
        const { items, total } = await page({ table }, offset);
        const ids = [ends.id, stays.id].sort().reverse();
        expect({ ids: items.map(({ id }) => id), total }).toEqual({ ids: ids.slice(offset), total: 2 });
      }
    },
  );
});

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

it('a delegation has the status of its execution', async () => {
  const read = () => readDelegation(board, board.organization, delegationId);
  const execution = await board.start(board.newExecution(delegated));
  expect(await read()).toEqual({ delegationId, fromAgent: 'reader', toAgent: 'writer', status: 'accepted' });
  const leased = await board.leased(execution);
  expect((await read())?.status).toBe('running');
  await endExecution(board, leased, failed(), {});
  expect((await read())?.status).toBe('failed');
  expect(await board.faults()).toEqual([]);
});
