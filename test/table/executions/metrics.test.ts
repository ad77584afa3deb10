import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { endExecution } from '../../../lib/table/executions/executions.ts';
import { metricsWrites, readDays, readDurations, sumOfTotals } from '../../../lib/table/executions/metrics.ts';
import { fc } from '../../seeded.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from './execution-table.ts';

const agentId = 'ag_01KE0000000000000000000000';
const day = '2026-01-01';
const organization = 'org' as Organization;

/** The bucket that a duration is counted in. */
function bucketOf(durationMs: number): string {
  const [write] = metricsWrites(
    { organization, agentId, startedAt: `${day}T00:00:00.000Z` },
    completed({ durationMs }),
  );
  return write && 'Update' in write ? (write.Update.ExpressionAttributeNames?.['#bucket'] as string) : '';
}

/** The least duration of a bucket, and the first above it: each is a tenth wider than the one before. */
function edgesOf(bucket: string): [number, number] {
  const nth = Number(/^h(\d+)$/.exec(bucket)?.[1]);
  return nth === 0 ? [0, 1] : [1.1 ** (nth - 1), 1.1 ** nth];
}

it('the middle of a bucket is within 5 % of every duration in it, up to a day', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 86_400_000 })), (durationMs) => {
      const [from, to] = edgesOf(bucketOf(durationMs));
      expect(durationMs).toBeGreaterThanOrEqual(from);
      expect(durationMs).toBeLessThan(to);
      expect(Math.abs((from + to) / 2 - durationMs) / durationMs).toBeLessThanOrEqual(0.05 + 1e-9);
    }),
    { seed: 2, numRuns: 2000 },
  );
});

it.each([
  ['2026-01-01T00:00:00.000Z', '2026-01-01'],
  ['2026-01-01T23:59:59.999Z', '2026-01-01'],
  ['2026-01-02T00:00:00.000Z', '2026-01-02'],
])(
  'an execution that was started at %s belongs to the UTC day %s, of its agent and of the organization, whenever it ended',
  (startedAt, date) => {
    const writes = metricsWrites(
      { organization, agentId, startedAt },
      completed({ completedAt: '2026-01-09T12:00:00.000Z' }),
    );
    const written = [keys.metricsOfDay(organization, date, agentId.slice(3)), keys.metricsOfDay(organization, date)];
    expect(writes.map((write) => 'Update' in write && write.Update.Key)).toEqual(written);
  },
);

const since = '2026-01-01';

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

/** Returns the totals of the first agent, by default with any prompt. */
const totals = async (promptHash?: string) => {
  const days = await readDays(board, board.organization, { agentId: board.agent.id, since, promptHash });
  return sumOfTotals(days.values());
};

describe.each(['agent', 'organization'])('an execution is counted once for the %s', (of) => {
  const totals = async (table: Table = board.table) => {
    const agentId = of === 'agent' ? board.agent.id : undefined;
    return sumOfTotals((await readDays({ table }, board.organization, { agentId, since })).values());
  };

  // The running executions, the ended ones, the running ones again. The running ones of an agent are in two lists.
  const requests = of === 'agent' ? [0, 2, 3] : [0, 1, 2];

  it.each([0, 1, 2])('though it ends just before step %i of a read', async (step) => {
    const [ends, stays] = [await board.leased(), await board.leased()];
    const { table } = watchedTable(board.table, async ({ nth }) => {
      if (nth === requests[step]) await endExecution(board, ends, completed(), {});
    });
    const read = await totals(table);
    expect(read).toMatchObject({ completed: 1, running: 1, tokens: 42, durationMs: 5000 });
    await endExecution(board, stays, failed(), {});
    expect(await totals()).toMatchObject({ completed: 1, failed: 1, running: 0 });
  });

  it.each([
    [0, 1],
    [1, 1],
    [2, 0],
  ])('though it starts and ends just before step %i of a read', async (step, counted) => {
    await board.start();
    const { table } = watchedTable(board.table, async ({ nth }) => {
      if (nth === requests[step]) await endExecution(board, await board.leased(), completed(), {});
    });
    expect(await totals(table)).toMatchObject({ completed: counted, running: 1 });
    expect(await totals()).toMatchObject({ completed: 1, running: 1 });
  });
});

it('the durations are those of all that have ended in the window, and of none that runs', async () => {
  const [first, second] = [await board.leased(), await board.leased()];
  await board.leased();
  await endExecution(board, first, completed({ durationMs: 0 }), {});
  await endExecution(board, second, failed({ durationMs: 7 }), {});
  const durations = (from: string) => readDurations(board, board.organization, board.agent.id, from);
  const read = await durations(since);
  expect(read.map(({ durationMs }) => durationMs).sort((a, b) => a - b)).toEqual([0, 7]);
  expect(read.map(({ date }) => date)).toEqual([day, day]);
  expect(await durations('2026-01-02')).toEqual([]);
});

it('executions of a version without prompts count for the agent, and for no prompt', async () => {
  const promptHash = `sha256:${'0'.repeat(64)}`;
  for (const fields of [{}, { promptHash }])
    await endExecution(board, await board.leased(await board.start(board.newExecution(fields))), completed(), {});
  await board.start(board.newExecution({ promptHash }));
  await board.start();
  expect(await totals()).toMatchObject({ completed: 2, running: 2, tokens: 84 });
  expect(await totals(promptHash)).toMatchObject({ completed: 1, running: 1, tokens: 42, durationMs: 5000 });
  expect((await totals(promptHash)).histogram).toMatchObject([{ count: 1 }]);
});

it('days of the histogram are summed, from the shortest duration on; a duration of 0 is 0', async () => {
  for (const [day, durationMs] of [
    [1, 1000],
    [2, 960],
    [2, 0],
  ] as const) {
    const id = `ex_${ulid(Date.UTC(2026, 0, day))}`;
    const execution = await board.leased(await board.start(board.newExecution({ id })));
    await endExecution(board, execution, completed({ durationMs }), {});
  }
  const { histogram } = await totals();
  expect(histogram.map(({ count }) => count)).toEqual([1, 2]);
  expect(histogram.map(({ durationMs }) => Math.round(durationMs))).toEqual([0, 1002]);
});
