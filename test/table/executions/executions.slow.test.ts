import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { moveOnEnd } from '../../../lib/executions/task-moves.ts';
import { type ExecutionHead, listItemOf } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../lib/table/executions/executions.ts';
import { keys } from '../../../lib/table/keys.ts';
import { ulidPeriods } from '../../../lib/table/lists/listing.ts';
import { purgeAgent } from '../../../lib/table/purges/purges.ts';
import { getItem } from '../../../lib/table/reads.ts';
import { dumpOf } from '../../table-dump.ts';
import { type Cost, meter } from '../fixtures/capacity.ts';
import { periodBorders } from '../tasks/model.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { always } from '../tasks/test-table.ts';
import { differences, type Filter, filtersOver, listed } from './execution-model.ts';
import { executionsOfAYear, seedExecutions, seedLists } from './execution-seed.ts';
import { at, createExecutionTable, type ExecutionTable } from './execution-table.ts';

const limit = 20;

describe('of 20,000 executions over a year', () => {
  let board: ExecutionTable;
  let asked: { filter: Filter; all: ExecutionHead[] }[];
  let costOf: ReturnType<typeof meter>['costOf'];

  beforeAll(async () => {
    board = await createExecutionTable();
    ({ costOf } = meter(board.table));
    const agents = [board.agent, await board.createAgent('reader'), await board.createAgent('painter')];
    const executions = executionsOfAYear(board.organization, agents, { count: 20_000, running: 50 });
    asked = filtersOver(agents.map(({ id }) => id)).map((filter) => ({ filter, all: listed(executions, filter) }));
    // A list reads no other periods than those that its page is in.
    const periodOf = (id: string) => ulidPeriods.of(ulidOf(id));
    const shown = asked.flatMap(({ all }) => [0, ...deepOffsets(all)].flatMap((from) => all.slice(from, from + limit)));
    const read = new Set(shown.map(({ id }) => periodOf(id)));
    await seedLists(board.table, executions, (id) => read.has(periodOf(id)));
  }, 900_000);

  /** Returns the offsets of the middle, of the last page, and of the last entry of the fullest period. */
  function deepOffsets(all: readonly ExecutionHead[]): number[] {
    const borders = [0, ...periodBorders(all.map(({ id }) => id)), all.length];
    const sizes = borders.map((border, nth) => border - (borders[nth - 1] ?? 0));
    const fullest = borders[sizes.indexOf(Math.max(...sizes))] ?? 0;
    const offsets = [Math.floor(all.length / 2), all.length - 1 - ((all.length - 1) % limit), fullest - 1];
    return [...new Set(offsets)].filter((offset) => offset > 0);
  }

  /** Returns the pages that exceed the budget or have wrong items. */
  async function over(most: Omit<Cost, 'wcu'>, offsetsOf: (all: readonly ExecutionHead[]) => number[]) {
    const found: string[] = [];
    for (const { filter, all } of asked)
      for (const offset of offsetsOf(all)) {
        const pages: unknown[] = [];
        const cost = await costOf(async () => {
          pages.push(await readExecutionPage(board, board.organization, filter, { limit, offset }));
        });
        const wanted = { items: all.slice(offset, offset + limit).map(listItemOf), total: all.length };
        const right = isDeepStrictEqual(pages, [wanted]);
        const expensive =
          cost.requests > most.requests || cost.rounds > most.rounds || cost.rcu > most.rcu || cost.wcu > 0;
        if (expensive || !right) found.push(JSON.stringify({ filter, offset, cost, right }));
      }
    return found;
  }

  it('the first page costs at most 4 requests in one round and 10 read units, for every filter', async () => {
    expect(await over({ requests: 4, rounds: 1, rcu: 10 }, () => [0])).toEqual([]);
  });

  it('a page far down costs at most 4 requests in 2 rounds and 110 read units, for every filter', async () => {
    expect(await over({ requests: 4, rounds: 2, rcu: 110 }, deepOffsets)).toEqual([]);
  });
});

describe('an agent with 5,000 executions', () => {
  it('is deleted at a cost in proportion to its executions, without a trace, and other agents keep theirs', async () => {
    const board = await createExecutionTable();
    const { table, organization } = board;
    const gone = await board.createAgent('reader');
    const [theirs, kept] = [
      executionsOfAYear(organization, [gone], { count: 5000, running: 30 }),
      executionsOfAYear(organization, [board.agent], { count: 300, running: 10 }),
    ];
    const all = [...theirs, ...kept];
    await seedLists(table, all);
    await seedExecutions(table, organization, all);
    expect(await faultsOf(table, organization)).toEqual([]);

    const { costOf } = meter(table);
    const deletion = await costOf(() => deleteAgent(board, organization, gone.name, always));
    const filters = filtersOver([board.agent.id]);
    const offsetsOf = (total: number) => [0, Math.max(0, total - 1), total];
    expect(await differences(board, organization, kept, { filters, limit, offsetsOf })).toEqual([]);

    const purge = { organization, agentId: gone.id };
    const purged = await costOf(() =>
      purgeAgent({ table }, purge, (task, id) => moveOnEnd(task, id, 'assigned', at(0))),
    );
    // Transactions of up to 49 rows and one counter each; then three requests for each ended execution.
    expect(deletion.requests).toBeLessThanOrEqual(2 * (31 * 4 + Math.ceil(5000 / 49)) + 10);
    expect(purged.requests).toBeLessThanOrEqual(3.2 * 5000);
    const names = new Set([gone, ...theirs].map(({ id }) => ulidOf(id)));
    const left = Object.keys(await dumpOf(table, organization));
    expect(left.filter((name) => name.match(/[0-9A-Z]{26}/g)?.some((ulid) => names.has(ulid)))).toEqual([]);
    expect((await getItem(table, keys.running(organization)))?.running).toBe(10);
    expect(await faultsOf(table, organization)).toEqual([]);
  }, 900_000);
});
