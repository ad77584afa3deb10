import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiError } from '../../../lib/contract/errors.ts';
import { getTask } from '../../../lib/tasks/tasks.ts';
import { sendTransactionsTogether } from '../fixtures/concurrent-transactions.ts';
import { createTestTable, errorOf, type TestTable } from './test-table.ts';

let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
});

const putMany = async (count: number) => {
  const puts = Array.from({ length: count }, () => board.put());
  return (await Promise.all(puts)).map(({ id }) => id);
};
const dependOn = (id: string, dependsOn: string[]) => errorOf(board.patch(id, { dependsOn }));
const codesOf = (errors: (ApiError | undefined)[]) => errors.map((error) => error?.code ?? 'done');

describe('concurrent changes that would close a cycle together', () => {
  it.each([2, 8])('are made except one, for a cycle of %i tasks', async (count) => {
    const ids = await putMany(count);
    sendTransactionsTogether(board.table, count);
    const changes = ids.map((id, at) => dependOn(id, [ids[(at + 1) % count] as string]));
    const codes = codesOf(await Promise.all(changes)).sort();
    expect(codes).toEqual(['dependency_cycle', ...Array(count - 1).fill('done')]);
    expect(await board.faults()).toEqual([]);
  });

  it('are found without a common task: A→B and C→D are added at once to B→C and D→A', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b, c, d] = (await putMany(4)) as [string, string, string, string];
      await dependOn(b, [c]);
      await dependOn(d, [a]);
      sendTransactionsTogether(board.table, 2);
      const codes = codesOf(await Promise.all([dependOn(a, [b]), dependOn(c, [d])])).sort();
      expect(codes).toEqual(['dependency_cycle', 'done']);
    }
    expect(await board.faults()).toEqual([]);
  });
});

describe('a deletion of a task at the same time as', () => {
  it.each<[string, (id: string, other: string) => Promise<ApiError | undefined>]>([
    ['a creation that depends on it', (id) => errorOf(board.put({ dependsOn: [id] }))],
    ['a new dependency on it', (id, other) => dependOn(other, [id])],
  ])('%s succeeds, or the other one does', async (_, depend) => {
    const outcomes: string[] = [];
    for (let round = 0; round < 10; round++) {
      const [id, other] = (await putMany(2)) as [string, string];
      sendTransactionsTogether(board.table, 2);
      const deletion = () => errorOf(board.remove(id));
      const calls = [deletion, () => depend(id, other)];
      const results = codesOf(await Promise.all((round % 2 ? calls : calls.toReversed()).map((call) => call())));
      outcomes.push((round % 2 ? results : results.toReversed()).join(', '));
    }
    const either = ['done, unknown_reference', 'has_dependents, done'];
    expect(outcomes.filter((outcome) => !either.includes(outcome))).toEqual([]);
    expect(await board.faults()).toEqual([]);
  });

  it('a change that reopens its dependent: it keeps its dependency, or has lost it before', async () => {
    for (let round = 0; round < 10; round++) {
      const { id: dependency } = await board.put();
      const { id } = await board.put({ status: 'done', dependsOn: [dependency] });
      sendTransactionsTogether(board.table, 2);
      const change = board.patch(id, { status: 'in_progress' });
      const deleted = await errorOf(board.remove(dependency));
      await change;
      const { data } = await getTask(board, board.organization, id);
      const left = data.blockedBy.map((blocker) => blocker.id);
      expect([deleted?.code, left]).toEqual(deleted ? ['has_dependents', [dependency]] : [undefined, []]);
    }
    expect(await board.faults()).toEqual([]);
  });
});
