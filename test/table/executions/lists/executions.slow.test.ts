import { beforeAll, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../../lib/agents/agents.ts';
import { ulidOf } from '../../../../lib/contract/ids.ts';
import { moveOnEnd } from '../../../../lib/executions/task-moves.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { getItem } from '../../../../lib/table/access/reads.ts';
import { purgeAgent } from '../../../../lib/table/executions/agent-purge.ts';
import { ulidPeriods } from '../../../../lib/table/lists/listing.ts';
import { meter } from '../../fixtures/capacity.ts';
import { deepOffsets, idsOnPages, limit, wrongPages } from '../../lists/list-costs.ts';
import { differences, type ExpectedList } from '../../lists/model.ts';
import { always } from '../../tasks/test-table.ts';
import { executionsOfAYear, seedExecutions, seedLists } from '../execution-seed.ts';
import { at, createExecutionTable } from '../execution-table.ts';
import { executionLists } from './execution-model.ts';

describe('of 20,000 executions over a year', () => {
  let lists: ExpectedList[];
  let metered: ReturnType<typeof meter>;

  beforeAll(async () => {
    const board = await createExecutionTable();
    metered = meter(board.table);
    const agents = [board.agent, await board.createAgent('reader'), await board.createAgent('painter')];
    const executions = executionsOfAYear(board.organization, agents, { count: 20_000, running: 50 });
    const agentIds = agents.map(({ id }) => id);
    lists = executionLists(board, executions, agentIds);
    // A list reads only the periods that its page is in.
    const periodOf = (id: string) => ulidPeriods.of(ulidOf(id));
    const read = new Set([...idsOnPages(lists)].map(periodOf));
    await seedLists(board.table, executions, (id) => read.has(periodOf(id)));
  }, 900_000);

  it('the first page costs at most 7 requests in 3 rounds and 15 read units, for every filter', async () => {
    expect(await wrongPages(lists, metered, { requests: 7, rounds: 3, rcu: 15 }, () => [0])).toEqual([]);
  });

  it('a page far down costs at most 7 requests in 4 rounds and 110 read units, for every filter', async () => {
    expect(await wrongPages(lists, metered, { requests: 7, rounds: 4, rcu: 110 }, deepOffsets)).toEqual([]);
  });
});

it('an agent with 5,000 executions is deleted at a cost in proportion to them, and other agents keep theirs', async () => {
  const board = await createExecutionTable();
  const { table, organization, faults } = board;
  const gone = await board.createAgent('reader');
  const theirs = executionsOfAYear(organization, [gone], { count: 5000, running: 30 });
  const kept = executionsOfAYear(organization, [board.agent], { count: 300, running: 10 });
  const all = [...theirs, ...kept];
  await seedLists(table, all);
  await seedExecutions(table, organization, all);
  expect(await faults()).toEqual([]);

  const { costOf } = meter(table);
  const deletion = await costOf(() => deleteAgent(board, organization, gone.name, always));
  const lists = executionLists(board, kept, [board.agent.id]);
  expect(await differences(lists, limit, ({ length }) => [0, Math.max(0, length - 1), length])).toEqual([]);

  const purge = { organization, agentId: gone.id };
  const release = (task: Parameters<typeof moveOnEnd>[0], id: string) => moveOnEnd(task, id, 'assigned', at(0));
  const purged = await costOf(() => purgeAgent({ table }, purge, release, at(0)));
  // Transactions of up to 49 executions, each after two reads of their rows; then three requests for each ended execution.
  expect(deletion.requests).toBeLessThanOrEqual(3 * (31 * 4 + Math.ceil(5000 / 49)) + 10);
  expect(purged.requests).toBeLessThanOrEqual(3.2 * 5000);
  const names = new Set([gone, ...theirs].map(({ id }) => ulidOf(id)));
  const left = Object.keys(await board.dump());
  expect(left.filter((name) => name.match(/[0-9A-Z]{26}/g)?.some((ulid) => names.has(ulid)))).toEqual([]);
  expect((await getItem(table, keys.running(organization)))?.running).toBe(10);
  expect(await faults()).toEqual([]);
}, 900_000);
