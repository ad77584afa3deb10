import { ulid } from 'ulid';
import { expect, it } from 'vitest';
import { deleteAgent } from '../../lib/agents/agents.ts';
import type { RunningExecution } from '../../lib/table/execution-items.ts';
import { fc } from '../seeded.ts';
import { dumpOf } from '../table-dump.ts';
import { completed, failed, openExecutionBoard } from './execution-board.ts';
import { differences, filtersOver } from './execution-model.ts';
import { executionsAmong } from './execution-oracle.ts';
import { faultsOf } from './oracle.ts';

const dayMs = 24 * 60 * 60 * 1000;
const firstPage = { limit: 5, offset: 0 };

/** What a worker does next: starts an execution on a day, or ends one of those that run, counted round. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), day: fc.nat(150), agent: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), target: fc.nat(1000), fails: fc.boolean() }) },
);

it('lists are those of a plain model after 8 workers at once, whatever filter and offset', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 60 }), async (steps) => {
      const { executions, organization, table, clock, ...board } = await openExecutionBoard();
      const agents = [board.agent, await board.hire('reader')];
      const hands: RunningExecution[] = [];
      const ended: string[] = [];
      const queue = steps.values();
      const worker = async () => {
        for (const one of queue)
          if (one.do === 'start') {
            const id = `ex_${ulid(clock() + one.day * dayMs)}`;
            hands.push(await board.claimed(await board.start(board.newExecution({ id }, agents[one.agent]))));
          } else {
            const [hand] = hands.splice(one.target % Math.max(1, hands.length), 1);
            if (!hand) continue;
            await executions.end(hand, one.fails ? failed() : completed(), {});
            ended.push(hand.id);
          }
      };
      await Promise.all(Array.from({ length: 8 }, worker));

      expect(await faultsOf(table, organization)).toEqual([]);
      const heads = executionsAmong(await dumpOf(table, organization));
      const ran = heads.filter(({ status }) => status === 'running').map(({ id }) => id);
      expect([ran.sort(), heads.length]).toEqual([hands.map(({ id }) => id).sort(), hands.length + ended.length]);
      const filters = filtersOver(agents.map(({ id }) => id));
      const offsetsOf = (total: number) => [0, 1, 4, Math.floor(total / 2), Math.max(0, total - 1), total, total + 9];
      expect(await differences(executions, organization, heads, { filters, limit: 4, offsetsOf })).toEqual([]);
    }),
    { seed: 4, numRuns: 1, endOnFailure: true },
  );
});

it('15 starts, then 15 ends, each followed by lists at once: not one is missed, and the totals are exact', async () => {
  const { executions, organization, agent, claimed, start, newExecution, clock } = await openExecutionBoard();
  const shown = async (filter: Parameters<typeof executions.list>[1]) => {
    const { items, total } = await executions.list(organization, filter, firstPage);
    return [items[0]?.id, total];
  };
  const missed: string[] = [];
  const hands: RunningExecution[] = [];
  for (let nth = 1; nth <= 15; nth++) {
    clock.now += 1;
    const { id } = hands[hands.push(await claimed(await start(newExecution()))) - 1] as RunningExecution;
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
  for (const [nth, hand] of hands.entries()) {
    await executions.end(hand, completed(), {});
    const seen = [await shown({ status: 'completed' }), await shown({ agentId: agent.id, status: 'running' })];
    const left = 14 - nth;
    const wanted = [[hand.id, nth + 1], left > 0 ? [hands[14]?.id, left] : [undefined, 0]];
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) missed.push(`end ${nth}`);
  }
  expect(missed).toEqual([]);
});

it('a deleted agent’s executions are in no list and no total from the answer on, whatever they were', async () => {
  const { app, executions, organization, agent, hire, claimed, start, newExecution, ...board } =
    await openExecutionBoard();
  const other = await hire('reader');
  for (const by of [agent, other]) {
    await start(newExecution({}, by));
    await executions.end(await claimed(await start(newExecution({}, by))), completed(), {});
    await executions.end(await claimed(await start(newExecution({}, by))), failed(), {});
  }
  const kept = executionsAmong(await dumpOf(board.table, organization)).filter(({ agentId }) => agentId === other.id);
  await deleteAgent(app, organization, agent.name, () => {});
  const options = { filters: filtersOver([other.id]), limit: 20, offsetsOf: (total: number) => [0, total] };
  expect(await differences(executions, organization, kept, options)).toEqual([]);
  expect(await faultsOf(board.table, organization)).toEqual([]);
  expect(await app.executions.list(organization, { agentName: agent.name }, firstPage)).toEqual({
    items: [],
    total: 0,
  });
});
