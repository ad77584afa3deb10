import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createAgent, deleteAgent } from '../../lib/agents/agents.ts';
import type { Context } from '../../lib/context/context.ts';
import { standardConduct } from '../../lib/contract/agents/standard-conduct.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { runDuePurges } from '../../lib/executions/purges.ts';
import { consumers } from '../../lib/names/consumers.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { transact } from '../../lib/table/access/transact.ts';
import type { Item } from '../../lib/table/access/write.ts';
import type { SweepCall } from '../../lib/table/lists/due.ts';
import { agentPurgeWrite } from '../../lib/table/purges/purge-items.ts';
import { allTime } from '../functions/pipeline/call-functions.ts';
import { dumpOf } from '../table/fixtures/table-dump.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, createTestTable, type TestTable } from '../table/tasks/test-table.ts';

/** The time for which other calls skip a purge that a call runs. */
const takenMs = consumers.purgeAgent.timeoutSeconds * 1000;

let board: TestTable;
let before: Record<string, Item>;
const errors: unknown[] = [];

beforeEach(async () => {
  board = await createTestTable();
  before = await dump();
  errors.length = 0;
});

const dump = () => dumpOf(board.table, board.organization) as Promise<Record<string, Item>>;

/** Creates an agent with a prompt and a soul, and deletes it. */
async function deleted(name: string): Promise<void> {
  const texts = { systemPrompt: 'Write.', soul: 'Calm.', capabilities: [], ...standardConduct };
  const agent = { name, displayName: name, category: 'business', status: 'active', ...texts } as const;
  await createAgent(board, board.organization, agent, undefined, []);
  await deleteAgent(board, board.organization, name, always);
}

/** Calls the function of the schedule once, with another table if a test needs one. */
function call({ table = board.table, ...more }: Partial<SweepCall> & { table?: Table } = {}) {
  const log = { ...board.app.log, info: vi.fn(), error: (_: string, fields: object) => void errors.push(fields) };
  const context: Context = { ...board.app, table, clock: board.clock, log };
  return runDuePurges(context, { until: board.clock(), hasTime: () => true, ...more });
}

/** A table whose worker is killed before a request. */
function tableKilledAt(step: number) {
  return watchedTable(board.table, ({ nth }) => {
    if (nth >= step) throw new Error('killed');
  });
}

describe('the purges that are due', () => {
  it('are run by the first call after the deletion', async () => {
    for (const name of ['one', 'two', 'three']) await deleted(name);
    expect(await call()).toEqual({ unfinished: false });
    expect(await dump()).toEqual(before);
  });

  it('are run by a call for all work, if a clock an hour ahead has postponed them', async () => {
    board.clock.now += 3_600_000;
    await deleted('one');
    await call({ table: tableKilledAt(2).table }).catch(() => {});
    board.clock.now -= 3_600_000;
    await call();
    expect(await dump()).not.toEqual(before);
    await call({ until: Date.parse('9999-12-31T23:59:59.999Z') });
    expect(await dump()).toEqual(before);
  });

  it('are repeated by a later call if a worker is killed at any request, and nothing is lost', async () => {
    let killed = 0;
    for (let step = 0; ; step++) {
      await deleted(`writer-${step}`);
      const { table, idle } = tableKilledAt(step);
      const failure: unknown = await call({ table }).catch((error: unknown) => error);
      await idle();
      if (!(failure instanceof Error)) break;
      killed++;
      board.clock.now += takenMs;
      expect(await call()).toEqual({ unfinished: false });
      expect(await dump()).toEqual(before);
    }
    // At least: the index is read, the purge postponed, executions read twice, four partitions read, the purge deleted.
    expect(killed).toBeGreaterThanOrEqual(9);
    expect(await dump()).toEqual(before);
  });

  it('are skipped by other calls for five minutes, while one of them runs it', async () => {
    await deleted('writer');
    const { table, idle } = tableKilledAt(3);
    await expect(call({ table })).rejects.toThrow('killed');
    await idle();
    board.clock.now += takenMs - 1;
    const taken = await dump();
    await call();
    expect(await dump()).toEqual(taken);
    board.clock.now += 1;
    await call();
    expect(await dump()).toEqual(before);
  });

  it('do not delay each other: one that fails is logged and reported after the others', async () => {
    await deleted('broken');
    const [purge] = Object.values(await dump()).filter(({ kind }) => kind === 'purge');
    await deleted('writer');
    const broken = watchedTable(board.table, ({ names }) => {
      if (names(`#XA#${purge?.sk}`)) throw new Error('It does not work.');
    });
    await expect(call({ table: broken.table })).rejects.toThrow('It does not work.');
    expect(errors).toMatchObject([{ agentId: `ag_${purge?.sk}`, error: { message: 'It does not work.' } }]);
    const purges = Object.values(await dump()).filter(({ kind }) => kind === 'purge');
    expect(purges.map(({ sk, dueAt }) => [sk, dueAt])).toEqual([[purge?.sk, timestamp(board.clock() + takenMs)]]);
    board.clock.now += takenMs;
    await call();
    expect(await dump()).toEqual(before);
  });

  it('are each run once, also at the start of a local service, which runs those that are not due', async () => {
    const count = 101;
    const until = Date.parse(allTime);
    const ulids = Array.from({ length: count }, () => board.ulid());
    const dueAt = timestamp(board.clock() + 60_000);
    for (const ulid of ulids)
      await transact(board.table, [
        agentPurgeWrite({ organization: board.organization, agentId: `ag_${ulid}` }, dueAt),
      ]);
    const { table } = watchedTable(board.table, ({ names }) => {
      if (names('#XA#')) throw new Error('It does not work.');
    });
    await expect(call({ table, until })).rejects.toThrow('It does not work.');
    expect(errors).toHaveLength(count);
    expect(await call({ until: board.clock() + takenMs })).toEqual({ unfinished: false });
    expect(await dump()).not.toEqual(before);
    board.clock.now += takenMs;
    await call();
    expect(await dump()).toEqual(before);
  });

  it('are left to the next call if there is no time for another one', async () => {
    for (const name of ['one', 'two']) await deleted(name);
    const times = [true, false];
    expect(await call({ hasTime: () => times.shift() ?? false })).toEqual({ unfinished: true });
    expect(Object.values(await dump()).filter(({ kind }) => kind === 'purge')).toHaveLength(1);
    expect(await call()).toEqual({ unfinished: false });
    expect(await dump()).toEqual(before);
  });
});
