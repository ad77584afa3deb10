import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { beforeEach, describe, expect, it } from 'vitest';
import { readDurations, readTotals } from '../../../lib/table/agents/metrics.ts';
import type { Table } from '../../../lib/table/client.ts';
import { LeaseLost } from '../../../lib/table/executions/execution-steps.ts';
import { endExecution, leaseExecution } from '../../../lib/table/executions/executions.ts';
import { completed, createExecutionTable, type ExecutionTable, failed } from '../executions/execution-table.ts';
import { interceptTable } from '../fixtures/intercepted-table.ts';
import { watchedTable } from '../fixtures/watched-table.ts';

const since = '2026-01-01';

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

const totals = (seen: Table = board.table) => readTotals({ table: seen }, board.organization, board.agent.id, since);

const oneEnded = { completed: 1, failed: 0, running: 0, tokens: 42, durationMs: 5000 };

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

  it('though the answer to its end was lost, and the end is sent again', async () => {
    const execution = await board.leased();
    const lossy = interceptTable(board.table, async (send, command) => {
      if (command instanceof TransactWriteCommand) await send();
      return send();
    });
    await endExecution({ table: lossy }, execution, completed(), {});
    expect(await totals()).toMatchObject(oneEnded);
    // A worker that knows nothing of it tries once more.
    await expect(endExecution(board, execution, completed(), {})).rejects.toBeInstanceOf(LeaseLost);
    expect(await totals()).toMatchObject(oneEnded);
  });

  it('though two workers end it at once, the one that has lost it as failed', async () => {
    const first = await board.leased();
    const second = await leaseExecution(board, first, {
      ...{ leaseId: 'second', now: '2026-01-01T00:01:00.000Z', until: '2026-01-01T00:01:30.000Z' },
    });
    if (!second) throw new Error('The lease has expired, so it can be leased again.');
    const ends = await Promise.allSettled([
      endExecution(board, first, failed(), {}),
      endExecution(board, second, completed(), {}),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await totals()).toMatchObject(oneEnded);
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

it('an end stands in the numbers as soon as it is answered', async () => {
  for (let nth = 1; nth <= 5; nth++) {
    await endExecution(board, await board.leased(), completed(), {});
    expect(await totals()).toMatchObject({ completed: nth, running: 0, tokens: 42 * nth, durationMs: 5000 * nth });
  }
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
