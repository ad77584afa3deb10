import { ulid } from 'ulid';
import { expect, it } from 'vitest';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { endExecution } from '../../../lib/table/executions/executions.ts';
import { fc } from '../../seeded.ts';
import { dumpOf } from '../../table-dump.ts';
import { differences } from '../lists/model.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { executionLists } from './execution-model.ts';
import { executionsAmong } from './execution-oracle.ts';
import { completed, createExecutionTable, failed } from './execution-table.ts';

const dayMs = 24 * 60 * 60 * 1000;

const ending = fc.record({ tokensUsed: fc.nat(100_000), durationMs: fc.oneof(fc.nat(20), fc.nat(600_000)) });
const start = fc.record({ do: fc.constant('start' as const), day: fc.nat(150), agent: fc.nat(1) });
const end = fc.record({ do: fc.constant('end' as const), target: fc.nat(1000), fails: fc.boolean(), ending });

/** A step of a worker: start an execution on a day, or end a running one. */
const step = fc.oneof({ weight: 3, arbitrary: start }, { weight: 2, arbitrary: end });

it('lists and metrics equal those of a model after steps of 8 concurrent workers, for every filter', async () => {
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
            await endExecution(board, execution, one.fails ? failed(one.ending) : completed(one.ending), {});
            ended.push(execution.id);
          }
      };
      await Promise.all(Array.from({ length: 8 }, worker));

      expect(await faultsOf(table, organization)).toEqual([]);
      const heads = executionsAmong(await dumpOf(table, organization));
      const running = heads.filter(({ status }) => status === 'running').map(({ id }) => id);
      expect(running.sort()).toEqual(executing.map(({ id }) => id).sort());
      expect(heads).toHaveLength(executing.length + ended.length);
      const lists = executionLists(
        board,
        heads,
        agents.map(({ id }) => id),
      );
      expect(await differences(lists, 4)).toEqual([]);
    }),
    { seed: 4, numRuns: 1, endOnFailure: true },
  );
});
