import { ulid } from 'ulid';
import { expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { listExecutions } from '../../../lib/executions/executions.ts';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { endExecution, readExecutionPage } from '../../../lib/table/executions/executions.ts';
import { fc } from '../../seeded.ts';
import { dumpOf } from '../../table-dump.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { differences, type Filter, filtersOver } from './execution-model.ts';
import { executionsAmong } from './execution-oracle.ts';
import { completed, createExecutionTable, failed } from './execution-table.ts';

const dayMs = 24 * 60 * 60 * 1000;
const firstPage = { limit: 5, offset: 0 };

/** A step of a worker: start an execution on a day, or end a running one. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), day: fc.nat(150), agent: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), target: fc.nat(1000), fails: fc.boolean() }) },
);

it('lists equal those of a model after steps of 8 concurrent workers, for every filter and offset', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 60 }), async (steps) => {
      const board = await createExecutionTable();
      const { organization, table, clock } = board;
      const agents = [board.agent, await board.createAgent('reader')];
      const executing: RunningExecution[] = [];
      const ended: string[] = [];
      const queue = steps.values();
      const worker = async () => {
        for (const one of queue)
          if (one.do === 'start') {
            const id = `ex_${ulid(clock() + one.day * dayMs)}`;
            executing.push(await board.leased(await board.start(board.newExecution({ id }, agents[one.agent]))));
          } else {
            const [execution] = executing.splice(one.target % Math.max(1, executing.length), 1);
            if (!execution) continue;
            await endExecution(board, execution, one.fails ? failed() : completed(), {});
            ended.push(execution.id);
          }
      };
      await Promise.all(Array.from({ length: 8 }, worker));

      expect(await faultsOf(table, organization)).toEqual([]);
      const heads = executionsAmong(await dumpOf(table, organization));
      const ran = heads.filter(({ status }) => status === 'running').map(({ id }) => id);
      expect([ran.sort(), heads.length]).toEqual([
        executing.map(({ id }) => id).sort(),
        executing.length + ended.length,
      ]);
      const filters = filtersOver(agents.map(({ id }) => id));
      const offsetsOf = (total: number) => [0, 1, 4, Math.floor(total / 2), Math.max(0, total - 1), total, total + 9];
      expect(await differences(board, organization, heads, { filters, limit: 4, offsetsOf })).toEqual([]);
    }),
    { seed: 4, numRuns: 1, endOnFailure: true },
  );
});

it('a list shows each of 15 starts and 15 ends at once, with exact totals', async () => {
  const board = await createExecutionTable();
  const { organization, agent, leased, start, newExecution, clock } = board;
  const shown = async (filter: Filter) => {
    const { items, total } = await readExecutionPage(board, organization, filter, firstPage);
    return [items[0]?.id, total];
  };
  const missed: string[] = [];
  const executing: RunningExecution[] = [];
  for (let nth = 1; nth <= 15; nth++) {
    clock.now += 1;
    const { id } = executing[executing.push(await leased(await start(newExecution()))) - 1] as RunningExecution;
    const seen = [await shown({}), await shown({ agentId: agent.id, status: 'running' })];
    if (
      JSON.stringify(seen) !==
      JSON.stringify([
        [id, nth],
        [id, nth],
      ])
    )
      missed.push(`start ${nth}`);
  }
  for (const [nth, execution] of executing.entries()) {
    await endExecution(board, execution, completed(), {});
    const seen = [await shown({ status: 'completed' }), await shown({ agentId: agent.id, status: 'running' })];
    const left = 14 - nth;
    const wanted = [[execution.id, nth + 1], left > 0 ? [executing[14]?.id, left] : [undefined, 0]];
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) missed.push(`end ${nth}`);
  }
  expect(missed).toEqual([]);
});

it('after the response of a deletion, no list or total includes executions of the agent, whatever their status', async () => {
  const board = await createExecutionTable();
  const { app, organization, agent, createAgent, leased, start, newExecution } = board;
  const other = await createAgent('reader');
  for (const by of [agent, other]) {
    await start(newExecution({}, by));
    await endExecution(board, await leased(await start(newExecution({}, by))), completed(), {});
    await endExecution(board, await leased(await start(newExecution({}, by))), failed(), {});
  }
  const kept = executionsAmong(await dumpOf(board.table, organization)).filter(({ agentId }) => agentId === other.id);
  await deleteAgent(app, organization, agent.name, () => {});
  const options = { filters: filtersOver([other.id]), limit: 20, offsetsOf: (total: number) => [0, total] };
  expect(await differences(board, organization, kept, options)).toEqual([]);
  expect(await faultsOf(board.table, organization)).toEqual([]);
  expect(await listExecutions(board, organization, { agentName: agent.name }, firstPage)).toEqual({
    items: [],
    total: 0,
  });
});
