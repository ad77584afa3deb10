import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import type { Write } from '../../../lib/table/access/write.ts';
import { purgeAgent } from '../../../lib/table/executions/agent-purge.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { agentPurgeWrite, purgePartition } from '../../../lib/table/purges/purge-items.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { createTestTable, type TestTable } from '../tasks/test-table.ts';

const [ulid, other] = ['01K00000000000000000000000', '01K00000000000000000000001'] as const;
const purge = (organization: Organization) => ({ organization, agentId: `ag_${ulid}` });
const dueAt = '2026-01-01T00:01:00.000Z';
/** No execution, so no task to release. */
const noTask = () => undefined;
let board: TestTable;
let organization: Organization;
let before: Record<string, unknown>;

/** Puts `count` texts and skills of an agent. */
async function putAll(agent: string, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, nth) => `${nth}`.padStart(4, '0'));
  const items = names.flatMap((name) => [
    { ...keys.agentText(organization, agent, `sha256:${name}`), text: 'x' },
    { ...keys.agentSkill(organization, agent, `sk_${name}`), assignedAt: dueAt },
  ]);
  for (let at = 0; at < items.length; at += 100)
    await transact(
      board.table,
      items.slice(at, at + 100).map((Item): Write => ({ Put: { Item } })),
    );
}

beforeEach(async () => {
  board = await createTestTable();
  organization = board.organization;
  await putAll(other, 3);
  before = await dumpOf(board.table, organization);
  await putAll(ulid, 120);
  await transact(board.table, [agentPurgeWrite(purge(organization), dueAt)]);
});

const left = () => dumpOf(board.table, organization);

/** The table of a worker that is killed at a request. */
const tableKilledAt = (step: number) =>
  watchedTable(board.table, ({ nth }) => {
    if (nth >= step) throw new Error('killed');
  }).table;

describe('a purge', () => {
  it('that stopped at any step is still listed, and is completed by the next', async () => {
    for (let step = 0; step < 7; step++) {
      await expect(purgeAgent({ table: tableKilledAt(step) }, purge(organization), noTask, dueAt)).rejects.toThrow(
        'killed',
      );
      const [overdue, ...more] = await Array.fromAsync(readDue(board, [purgePartition], dueAt));
      expect([overdue?.dueAt, more]).toEqual([dueAt, []]);
      await putAll(ulid, 120);
    }
    await purgeAgent(board, purge(organization), noTask, dueAt);
    expect(await left()).toEqual(before);
    expect(await Array.fromAsync(readDue(board, [purgePartition], '9999-12-31T23:59:59.999Z'))).toEqual([]);
  });
});
