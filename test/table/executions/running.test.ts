import { beforeEach, describe, expect, it } from 'vitest';
import { findDifferences, repairDifferences } from '../../../infra/cli/reconcile/differences.ts';
import type { ApiError } from '../../../lib/contract/errors.ts';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { retryOnConflict, transact } from '../../../lib/table/access/transact.ts';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import { endExecution, insertExecution } from '../../../lib/table/executions/executions.ts';
import { readTokensToday, type StartContext } from '../../../lib/table/executions/running.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { errorOf } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable } from './execution-table.ts';
import { executionsAmong } from './lists/execution-oracle.ts';

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
  const more = { dueAt: at(60_000), task: undefined, recordResponse: undefined };
  const input = { input: 'Do it.' };
  await retryOnConflict(board.table, () => insertExecution(context, board.newExecution({ id }), input, more));
}

const startError = async (context: StartContext, milliseconds: number) =>
  (await errorOf(start(context, milliseconds))) as ApiError;

const counts = async () => {
  const { pk, sk, ...rest } = (await getItem(board.table, keys.running(board.organization))) ?? {};
  return rest;
};

describe('the executions that an organization starts in a minute of the clock', () => {
  it('are limited, whichever container starts them', async () => {
    const [one, other] = [container(), container()];
    await start(one, 1_000);
    await start(other, 2_000);
    await start(one, 59_999);
    const limits = { 'RateLimit-Policy': '"executions";q=3;w=60', RateLimit: '"executions";r=0;t=30' };
    for (const either of [one, other])
      expect(await startError(either, 30_500)).toMatchObject({
        ...{ code: 'rate_limited', status: 429, headers: { 'Retry-After': '30', ...limits } },
        message: 'The organization has started 3 executions in this minute; retry after the time in Retry-After.',
      });
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

  it('are counted anew if a clock an hour ahead has counted, in the same container and in others', async () => {
    const context = container();
    for (let count = 0; count < perMinute; count++) await start(context, 3_600_000);
    for (const either of [context, container()]) {
      await start(either, 0);
      expect(await counts()).toMatchObject({ startsMinute: noon / 60_000 });
    }
    await start(container(), 1_000);
    expect((await startError(container(), 2_000)).headers['Retry-After']).toBe('58');
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
    const [head] = executionsAmong(await board.dump());
    await endExecution(board, await board.leased(head as RunningExecution), completed(), {});
    expect(await counts()).toMatchObject({ running: 2, starts: 3 });
    expect((await startError(context, 0)).code).toBe('rate_limited');
  });

  it('are limited by what the organization has of its own, at once', async () => {
    const context = container();
    for (const [executionsPerMinute, starts] of [
      [1, 1],
      [4, 3],
      [undefined, 0],
    ] as const) {
      await changeSettings(board, board.organization, { executionsPerMinute });
      for (let count = 0; count < starts; count++) await start(context, 0);
      const policy = `"executions";q=${executionsPerMinute ?? perMinute};w=60`;
      expect((await startError(context, 0)).headers['RateLimit-Policy']).toBe(policy);
    }
    expect(await counts()).not.toHaveProperty('executionsPerMinute');
  });
});

describe('the tokens that the executions of an organization use in a UTC day', () => {
  const second = 1_000;
  const day = 24 * 60 * 60 * second;
  const midnight = day / 2;

  /** Returns the context of a new container that has this budget and a limit of starts, or none. */
  const withBudget = (dailyTokens?: number, executionsPerMinute: number | undefined = 1_000): StartContext => ({
    ...board,
    limits: { ...(dailyTokens !== undefined && { dailyTokens }), executionsPerMinute } as StartContext['limits'],
    startMinutes: new Map(),
  });

  /** Starts an execution at a moment, and ends it at another with a number of tokens. */
  async function use(context: StartContext, tokensUsed: number, startedAt: number, endedAt = startedAt): Promise<void> {
    await start(context, startedAt);
    const head = executionsAmong(await board.dump()).find(({ status }) => status === 'running') as RunningExecution;
    const ending = completed({ tokensUsed, completedAt: timestamp(noon + endedAt) });
    await endExecution(board, await board.leased(head), ending, {});
  }

  it.each([
    ['with a limit of starts', 1_000],
    ['without one', undefined],
  ])('are limited %s: a start is rejected when they are used, until the next UTC day', async (_, perMinute) => {
    const [one, other] = [withBudget(1_000, perMinute), withBudget(1_000, perMinute)];
    await use(one, 999, 0);
    await use(other, 1, 1 * second);
    const before = await board.dump();
    for (const context of [one, other])
      expect(await startError(context, midnight - 90.5 * second)).toMatchObject({
        ...{ code: 'rate_limited', status: 429, headers: { 'Retry-After': '91' } },
        message:
          'The organization has used its budget of 1,000 tokens for this UTC day; retry after the time in Retry-After, or ask an operator for a higher budget.',
      });
    expect(await board.dump()).toEqual(before);
    await start(one, midnight);
    await start(other, midnight + second);
    expect(await counts()).toMatchObject({ running: 2 });
  });

  it('count on the day of the end, and those of running executions do not count', async () => {
    const context = withBudget(500);
    await use(context, 500, midnight - second, midnight);
    expect((await startError(context, midnight)).code).toBe('rate_limited');
    expect(await readTokensToday(board, board.organization, noon + midnight)).toBe(500);
    expect(await readTokensToday(board, board.organization, noon)).toBe(0);
  });

  it('are limited by the budget of the organization before that of the deployment, at once', async () => {
    const { organization } = board;
    const [unlimited, limited] = [withBudget(), withBudget(100)];
    await use(unlimited, 200, 0);
    expect((await startError(limited, second)).message).toContain('budget of 100 tokens');
    for (const [dailyTokens, error] of [
      [150, 'budget of 150 tokens'],
      [201, undefined],
      [undefined, 'budget of 100 tokens'],
    ] as const) {
      await changeSettings(board, organization, { dailyTokens });
      if (error === undefined) await start(limited, second);
      else expect((await startError(limited, second)).message).toContain(error);
    }
    await start(unlimited, second);
    await changeSettings(board, organization, { dailyTokens: 200 });
    expect((await startError(unlimited, second)).message).toContain('budget of 200 tokens');
    await changeSettings(board, organization, { dailyTokens: undefined });
    expect(await counts()).not.toHaveProperty('dailyTokens');
  });

  it('are deleted by the first start of a later day, and are exact when many executions end at once', async () => {
    const context = withBudget(1_000_000);
    for (let nth = 0; nth < 8; nth++) await use(context, 1, nth * day);
    const tokens = Object.keys(await counts()).filter((name) => name.startsWith('tokens2026'));
    expect(tokens).toEqual(['tokens2026-03-08']);
    for (let nth = 0; nth < 9; nth++) await start(context, 8 * day);
    const running = executionsAmong(await board.dump()).filter(({ status }) => status === 'running');
    const leased = await Promise.all(running.map((head) => board.leased(head as RunningExecution)));
    const ending = completed({ tokensUsed: 7, completedAt: timestamp(noon + 8 * day) });
    await Promise.all(
      leased.map((execution) => retryOnConflict(board.table, () => endExecution(board, execution, ending, {}))),
    );
    expect(await readTokensToday(board, board.organization, noon + 8 * day)).toBe(63);
  });

  it('are reported before the other limits, whose end would not help', async () => {
    const context = { ...withBudget(10, 1), runningCap: 1 };
    await use(context, 10, 0);
    await start({ ...context, limits: {} }, second);
    expect((await startError(context, second)).message).toContain('budget of 10 tokens');
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
    const Key = keys.running(organization);
    await transact(table, [{ Update: { Key, UpdateExpression: 'SET running = :running', ...values } }]);
    await repairDifferences(table, await findDifferences(table, organization, at(0)));
    expect(await counts()).toEqual(before);
  }
});

it('a deployment without a limit counts no starts', async () => {
  for (let count = 0; count < 5; count++) await start(board, 0);
  expect(await counts()).toEqual({ running: 5 });
});
