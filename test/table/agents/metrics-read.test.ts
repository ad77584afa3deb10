import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import { readDurations, readTotals } from '../../../lib/table/agents/metrics.ts';
import type { Table } from '../../../lib/table/client.ts';
import { endExecution } from '../../../lib/table/executions/executions.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from '../executions/execution-table.ts';
import { watchedTable } from '../fixtures/watched-table.ts';

const since = '2026-01-01';

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

const totals = (seen: Table = board.table) => readTotals({ table: seen }, board.organization, board.agent.id, since);

describe('an execution is counted once', () => {
  it.each([0, 1, 2])('though it ends just before request %i of a read', async (moment) => {
    const [ends, stays] = [await board.leased(), await board.leased()];
    const { table } = watchedTable(board.table, async ({ nth }) => {
      if (nth === moment) await endExecution(board, ends, completed(), {});
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
  ])('though it starts and ends just before request %i of a read', async (moment, counted) => {
    await board.start();
    const { table } = watchedTable(board.table, async ({ nth }) => {
      if (nth === moment) await endExecution(board, await board.leased(), completed(), {});
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
  expect(read.sort((a, b) => a - b)).toEqual([0, 7]);
  expect(await durations('2026-01-02')).toEqual([]);
});

it('days of the histogram are summed, from the shortest duration on', async () => {
  for (const [day, durationMs] of [
    [1, 1000],
    [2, 960],
    [2, 10],
  ] as const) {
    const id = `ex_${ulid(Date.UTC(2026, 0, day))}`;
    const execution = await board.leased(await board.start(board.newExecution({ id })));
    await endExecution(board, execution, completed({ durationMs }), {});
  }
  const { histogram } = await totals();
  expect(histogram.map(({ count }) => count)).toEqual([1, 2]);
  expect(histogram.map(({ durationMs }) => Math.round(durationMs))).toEqual([10, 1002]);
});

it('the histogram has a duration of 0 as 0', async () => {
  await endExecution(board, await board.leased(), completed({ durationMs: 0 }), {});
  expect((await totals()).histogram).toEqual([{ durationMs: 0, count: 1 }]);
});
