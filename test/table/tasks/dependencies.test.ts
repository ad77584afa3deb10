import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiError } from '../../../lib/contract/errors.ts';
import { deleteTask, getTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { fc } from '../../seeded.ts';
import { sendTransactionsTogether } from '../fixtures/concurrent-transactions.ts';
import { faultsOf, ringAmong, tasksOf } from './oracle.ts';
import { always, createTestTable, errorOf, type TestTable } from './test-table.ts';

let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
});

const putMany = async (count: number) => {
  const puts = Array.from({ length: count }, () => board.put());
  return (await Promise.all(puts)).map(({ id }) => id);
};
const dependOn = (id: string, dependsOn: string[]) =>
  errorOf(updateTask(board, board.organization, id, { dependsOn }, always));
const codesOf = (errors: (ApiError | undefined)[]) => errors.map((error) => error?.code ?? 'done');
const cycle = async () => ringAmong(await tasksOf(board.table, board.organization));
const faults = () => faultsOf(board.table, board.organization);

describe('concurrent changes that would close a cycle together', () => {
  it.each([2, 8])('are made except one, for a cycle of %i tasks', async (count) => {
    const ids = await putMany(count);
    sendTransactionsTogether(board.table, count);
    const changes = ids.map((id, at) => dependOn(id, [ids[(at + 1) % count] as string]));
    const codes = codesOf(await Promise.all(changes)).sort();
    expect(codes).toEqual(['dependency_cycle', ...Array(count - 1).fill('done')]);
    expect(await cycle()).toBeUndefined();
    expect(await faults()).toEqual([]);
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
    expect(await cycle()).toBeUndefined();
    expect(await faults()).toEqual([]);
  });

  it('throw an error with the cycle', async () => {
    const [a, b, c] = (await putMany(3)) as [string, string, string];
    await dependOn(a, [b]);
    await dependOn(b, [c]);
    const refused = await dependOn(c, [a]);
    expect(refused?.details).toEqual([
      { path: 'dependsOn.0', code: 'cycle', message: expect.stringContaining([c, a, b, c].join(' → ')) },
    ]);
  });
});

it('eight writers that add and remove dependencies concurrently close no cycle', async () => {
  const edges = fc.array(fc.tuple(fc.nat(9), fc.array(fc.nat(9), { maxLength: 3 })), { minLength: 40, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(edges, async (steps) => {
      board = await createTestTable();
      const ids = await putMany(10);
      const codes = new Set<string | undefined>();
      const queue = steps.values();
      const writer = async () => {
        for (const [at, others] of queue) {
          const dependsOn = [...new Set(others)].map((other) => ids[other] as string);
          codes.add((await dependOn(ids[at] as string, dependsOn))?.code);
        }
      };
      await Promise.all(Array.from({ length: 8 }, writer));
      expect(await cycle()).toBeUndefined();
      expect(await faults()).toEqual([]);
      expect([...codes].filter((code) => code !== undefined && code !== 'dependency_cycle')).toEqual([]);
    }),
    { numRuns: 1, endOnFailure: true },
  );
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
      const deletion = () => errorOf(deleteTask(board, board.organization, id, always));
      const calls = [deletion, () => depend(id, other)];
      const results = codesOf(await Promise.all((round % 2 ? calls : calls.toReversed()).map((call) => call())));
      outcomes.push((round % 2 ? results : results.toReversed()).join(', '));
    }
    const either = ['done, unknown_reference', 'has_dependents, done'];
    expect(outcomes.filter((outcome) => !either.includes(outcome))).toEqual([]);
    expect(await faults()).toEqual([]);
  });

  it('a change that reopens its dependent: it keeps its dependency, or has lost it before', async () => {
    for (let round = 0; round < 10; round++) {
      const { id: dependency } = await board.put();
      const { id } = await board.put({ status: 'done', dependsOn: [dependency] });
      sendTransactionsTogether(board.table, 2);
      const change = updateTask(board, board.organization, id, { status: 'in_progress' }, always);
      const deleted = await errorOf(deleteTask(board, board.organization, dependency, always));
      await change;
      const { data } = await getTask(board, board.organization, id);
      const left = data.blockedBy.map((blocker) => blocker.id);
      expect([deleted?.code, left]).toEqual(deleted ? ['has_dependents', [dependency]] : [undefined, []]);
    }
    expect(await faults()).toEqual([]);
  });
});
