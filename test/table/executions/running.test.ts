import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiError } from '../../../lib/contract/errors.ts';
import { ulidFrom } from '../../../lib/contract/ids.ts';
import { findDifferences, repairDifferences } from '../../../lib/reconcile/differences.ts';
import {
  endExecution,
  insertExecution,
  leaseExecution,
  readExecutionPage,
} from '../../../lib/table/executions/executions.ts';
import type { StartContext } from '../../../lib/table/executions/running.ts';
import { keys } from '../../../lib/table/keys.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { getItem } from '../../../lib/table/reads.ts';
import { retryOnConflict, transact } from '../../../lib/table/transact.ts';
import { at, completed, createExecutionTable, type ExecutionTable, lease } from './execution-table.ts';

const noon = Date.parse('2026-03-01T12:00:00.000Z');
const perMinute = 3;
let board: ExecutionTable;
let nth = 0;
beforeEach(async () => {
  board = await createExecutionTable();
});

/** Returns the context of a new container that allows `perMinute` starts in a minute. */
const container = (): StartContext => ({
  ...board,
  limits: { executionsPerMinute: perMinute },
  startMinutes: new Map(),
});

/** Starts an execution at a moment; retries on conflict. */
async function start(context: StartContext, milliseconds: number): Promise<void> {
  const id = `ex_${ulidFrom(noon + milliseconds, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, nth >> 8, nth++ & 255]))}`;
  const execution = board.newExecution({ id });
  await retryOnConflict(board.table, () =>
    insertExecution(
      context,
      execution,
      { input: 'Do it.' },
      { dueAt: at(60_000), task: undefined, recordResponse: undefined },
    ),
  );
}

const startError = (context: StartContext, milliseconds: number): Promise<ApiError> =>
  start(context, milliseconds).then(
    () => Promise.reject(new Error('It was started.')),
    (error: ApiError) => error,
  );

const counts = async () => {
  const { pk: _, sk: __, ...rest } = (await getItem(board.table, keys.running(board.organization))) ?? {};
  return rest;
};

describe('the executions that an organization starts in a minute of the clock', () => {
  it('are limited, whichever container starts them', async () => {
    const [one, other] = [container(), container()];
    await start(one, 1_000);
    await start(other, 2_000);
    await start(one, 59_999);
    for (const either of [one, other]) {
      const refused = await startError(either, 30_500);
      expect([refused.code, refused.status]).toEqual(['rate_limited', 429]);
      expect(refused.message).toBe(
        'The organization has started 3 executions in this minute; retry after the time in Retry-After.',
      );
      expect(refused.headers).toEqual({
        'Retry-After': '30',
        'RateLimit-Policy': '"executions";q=3;w=60',
        RateLimit: '"executions";r=0;t=30',
      });
    }
    expect(await counts()).toMatchObject({ running: 3, starts: 3 });
  });

  it('are counted anew in the next minute, and after minutes without any', async () => {
    const context = container();
    for (const minute of [0, 1, 7]) {
      for (let count = 0; count < perMinute; count++) await start(context, minute * 60_000);
      await startError(context, minute * 60_000);
    }
    expect(await counts()).toMatchObject({ running: 9, starts: 3 });
  });

  it('are counted by the clock that is ahead where those of two containers differ', async () => {
    const [ahead, behind] = [container(), container()];
    await start(ahead, 60_000);
    await start(behind, 59_990);
    await start(behind, 59_995);
    expect((await startError(behind, 59_999)).headers['Retry-After']).toBe('61');
    expect(await counts()).toMatchObject({ running: 3, starts: 3 });
  });

  it('are exact when many start at once', async () => {
    const containers = [container(), container(), container()];
    const results = await Promise.allSettled(
      Array.from({ length: 9 }, (_, at) => start(containers[at % 3] as StartContext, 0)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(perMinute);
    expect(await counts()).toMatchObject({ running: 3, starts: 3 });
  });

  it('are given no place back by executions that end', async () => {
    const context = container();
    for (let count = 0; count < perMinute; count++) await start(context, 0);
    const { organization } = board;
    const { items } = await readExecutionPage(board, organization, {}, { limit: 1, offset: 0 });
    const leased = await leaseExecution(board, { organization, id: items[0]?.id as string }, lease('first'));
    await endExecution(board, leased as never, completed(), {});
    expect(await counts()).toMatchObject({ running: 2, starts: 3 });
    expect((await startError(context, 0)).code).toBe('rate_limited');
  });

  it('are limited by what the organization has of its own, at once', async () => {
    const context = container();
    await changeSettings(board, board.organization, { executionsPerMinute: 1 });
    await start(context, 0);
    expect((await startError(context, 0)).headers['RateLimit-Policy']).toBe('"executions";q=1;w=60');
    await changeSettings(board, board.organization, { executionsPerMinute: 4 });
    for (let count = 1; count < 4; count++) await start(context, 0);
    expect((await startError(context, 0)).headers['RateLimit-Policy']).toBe('"executions";q=4;w=60');
    await changeSettings(board, board.organization, { executionsPerMinute: undefined });
    expect((await startError(context, 0)).headers['RateLimit-Policy']).toBe('"executions";q=3;w=60');
    expect(await counts()).not.toHaveProperty('executionsPerMinute');
  });
});

it('reconciling repairs the count of running executions, and keeps what limits their starts', async () => {
  const { table, organization } = board;
  await changeSettings({ table }, organization, { executionsPerMinute: 9 });
  await start(container(), 0);
  const before = await counts();
  expect(before).toMatchObject({ running: 1, starts: 1, executionsPerMinute: 9 });
  expect(await findDifferences(table, organization, at(0))).toEqual([]);
  for (const running of [7, 0]) {
    const values = { ExpressionAttributeValues: { ':running': running } };
    await transact(table, [
      { Update: { Key: keys.running(organization), UpdateExpression: 'SET running = :running', ...values } },
    ]);
    await repairDifferences(table, await findDifferences(table, organization, at(0)));
    expect(await counts()).toEqual(before);
  }
});

it('a deployment without a limit counts no starts', async () => {
  for (let count = 0; count < 5; count++) await start(board, 0);
  expect(await counts()).toEqual({ running: 5 });
});
