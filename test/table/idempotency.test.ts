import { beforeEach, describe, expect, it } from 'vitest';
import { AlreadyDone, transact } from '../../lib/table/access/transact.ts';
import {
  deleteIdempotencyLease,
  type IdempotentRequest,
  idempotencyRecordWrites,
  leaseIdempotencyRecord,
  readIdempotencyRecord,
} from '../../lib/table/idempotency.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';
import { createTestTable, type TestTable } from './tasks/test-table.ts';

const leaseMs = 30_000;
const dayMs = 24 * 60 * 60 * 1000;
const request: IdempotentRequest = {
  key: 'key-1',
  operation: 'POST /calls',
  path: '/calls',
  body: { text: 'secret words' },
};
const otherRequests: [string, Partial<IdempotentRequest>][] = [
  ['body', { body: { text: 'other words' } }],
  ['path', { path: '/others' }],
];

let board: TestTable;
const find = (differing: Partial<IdempotentRequest> = {}) =>
  readIdempotencyRecord(board.app, board.organization, { ...request, ...differing });
const begin = (differing: Partial<IdempotentRequest> = {}) =>
  leaseIdempotencyRecord(board.app, board.organization, { ...request, ...differing });
const release = (claim: string) => deleteIdempotencyLease(board.app, board.organization, request, claim);
const write = (answer: unknown, claim?: string, differing: Partial<IdempotentRequest> = {}) =>
  idempotencyRecordWrites(board.app, board.organization, { ...request, ...differing }, { data: answer }, claim);
const record = (...args: Parameters<typeof write>) => transact(board.table, write(...args));
const lostOf = (results: PromiseSettledResult<unknown>[]) =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));

beforeEach(async () => {
  board = await createTestTable();
});

describe('a recorded response', () => {
  it.each([[{ id: 'tk_1', tags: ['a'] }], [undefined]])('is found by the same request only: %j', async (answer) => {
    await record(answer);
    expect(await find()).toEqual({ data: answer ?? null });
    for (const [, differing] of otherRequests) expect(await find(differing)).toBe('another request');
    for (const differing of [{ key: 'key-2' }, { operation: 'POST /others' }])
      expect(await find(differing)).toBeUndefined();
  });

  it.each([
    ['two', '😀'.repeat(150_000)],
    ['ten', '\u0001'.repeat(480_000)],
  ])('that is as large as %s items is found as it was, for 24 hours', async (_, text) => {
    await record({ text });
    board.clock.now += dayMs - 1000;
    expect(await find()).toEqual({ data: { text } });
    const [[, differing]] = otherRequests as [[string, Partial<IdempotentRequest>]];
    expect(await find(differing)).toBe('another request');
    board.clock.now += 1000;
    await record('small');
    expect(await find()).toEqual({ data: 'small' });
    const items = Object.entries(await board.dump()).filter(([key]) => key.includes('#I#'));
    expect(items.length).toBeGreaterThan(1);
    for (const [, item] of items) expect(item).toHaveProperty('expiresAt');
  });

  it('is not found after 24 hours, even if its item still exists; the key can record another response', async () => {
    await record('first');
    board.clock.now += dayMs - 1000;
    expect(await find()).toEqual({ data: 'first' });
    board.clock.now += 1000;
    expect(await find()).toBeUndefined();
    const [[, differing]] = otherRequests as [[string, Partial<IdempotentRequest>]];
    await record('second', undefined, differing);
    expect(await find(differing)).toEqual({ data: 'second' });
  });

  it('is recorded by one of eight concurrent duplicate requests, which creates a task', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => board.put({}, (answer) => write(answer))));
    expect(lostOf(results)).toEqual(Array(7).fill(expect.any(AlreadyDone)));
    const { total, items } = await listTasks(board, board.organization, {}, { limit: 20, offset: 0 });
    expect(total).toBe(1);
    expect(await find()).toMatchObject({ data: { id: items[0]?.id } });
  });
});

describe('a request in progress', () => {
  it.each(otherRequests)(
    'is in progress, and another request if the %s differs, until its lease expires',
    async (_, differing) => {
      await begin();
      board.clock.now += leaseMs - 1;
      expect([await find(), await find(differing)]).toEqual(['in progress', 'another request']);
      await expect(begin(differing)).rejects.toBeInstanceOf(AlreadyDone);
      board.clock.now += 1;
      expect([await find(), await find(differing)]).toEqual([undefined, undefined]);
      await begin(differing);
      expect(await find()).toBe('another request');
    },
  );

  it('whose lease a clock an hour ahead has taken is in progress no more, and can begin again', async () => {
    board.clock.now += 3_600_000;
    await begin();
    board.clock.now -= 3_600_000;
    expect(await find()).toBeUndefined();
    await begin();
    expect(await find()).toBe('in progress');
  });

  it('is leased by one of ten duplicate requests', async () => {
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => begin()));
    expect(lostOf(results)).toEqual(Array(9).fill(expect.any(AlreadyDone)));
  });

  it('and its response are stored without the key and the body', async () => {
    const stored = async () => JSON.stringify(await board.dump());
    const claim = await begin();
    expect(await stored()).toContain('leaseUntil');
    expect(await stored()).not.toMatch(/key-1|secret words/);
    await record('done', claim);
    expect(await stored()).not.toMatch(/key-1|secret words/);
  });

  it('is replaced by its response, for 24 hours from then; a later release does not remove it', async () => {
    const claim = await begin();
    board.clock.now += 10_000;
    await record({ id: 'dlv_1' }, claim);
    await release(claim);
    for (const late of [begin, () => record('second')]) await expect(late()).rejects.toBeInstanceOf(AlreadyDone);
    board.clock.now += dayMs - 1000;
    expect(await find()).toEqual({ data: { id: 'dlv_1' } });
    board.clock.now += 1000;
    expect(await find()).toBeUndefined();
    await begin();
  });

  it('can begin again at once after it failed, and is recorded late if no other request has leased it', async () => {
    const failed = await begin();
    for (let times = 0; times < 2; times++) await release(failed);
    expect(await find()).toBeUndefined();
    const claim = await begin();
    expect(await find()).toBe('in progress');
    board.clock.now += 10 * leaseMs;
    await record('late', claim);
    expect(await find()).toEqual({ data: 'late' });
  });
});

describe('a worker whose lease was taken over', () => {
  let late: string;
  let claim: string;
  beforeEach(async () => {
    late = await begin();
    board.clock.now += leaseMs;
    claim = await begin();
  });

  it('can record no response, neither while the other is in progress nor after its response', async () => {
    await expect(record('of the late one', late)).rejects.toBeInstanceOf(AlreadyDone);
    expect(await find()).toBe('in progress');
    await record('of the other', claim);
    await expect(record('of the late one', late)).rejects.toBeInstanceOf(AlreadyDone);
    expect(await find()).toEqual({ data: 'of the other' });
  });

  it('does not release the lease of the other', async () => {
    await release(late);
    expect(await find()).toBe('in progress');
    await record('of the other', claim);
  });
});
