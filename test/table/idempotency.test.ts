import { beforeEach, describe, expect, it } from 'vitest';
import type { Request } from '../../lib/table/idempotency.ts';
import { idempotencyRecordWrite, readIdempotencyRecord } from '../../lib/table/idempotency.ts';
import { AlreadyDone, transact } from '../../lib/table/transact.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';
import { dumpOf } from '../table-dump.ts';
import { createTestTable, type TestTable } from './tasks/test-table.ts';

const hourMs = 60 * 60 * 1000;
const request: Request = { key: 'key-1', operation: 'POST /things', path: '/things', body: { title: 'secret words' } };

let board: TestTable;
const find = (asked: Partial<Request> = {}) =>
  readIdempotencyRecord(board.app, board.organization, { ...request, ...asked });
const record = (answer: unknown, asked: Partial<Request> = {}) =>
  transact(board.table, [idempotencyRecordWrite(board.app, board.organization, { ...request, ...asked }, answer)]);

beforeEach(async () => {
  board = await createTestTable();
});

describe('a recorded response', () => {
  it('is found by the same request', async () => {
    await record({ id: 'tk_1', tags: ['a'] });
    expect(await find()).toEqual({ data: { id: 'tk_1', tags: ['a'] } });
  });

  it('without data is found as null', async () => {
    await record(undefined);
    expect(await find()).toEqual({ data: null });
  });

  it.each([
    ['body', { body: { title: 'other words' } }],
    ['path', { path: '/others' }],
  ])('belongs to another request if the %s differs', async (_, asked) => {
    await record('done');
    expect(await find(asked)).toBe('another request');
  });

  it.each([
    ['key', { key: 'key-2' }],
    ['operation', { operation: 'POST /others' }],
  ])('is not found by another %s', async (_, asked) => {
    await record('done');
    expect(await find(asked)).toBeUndefined();
  });

  it('contains neither the key nor the body', async () => {
    await record('done');
    expect(JSON.stringify(await dumpOf(board.table, board.organization))).not.toMatch(/key-1|secret words/);
  });
});

describe('after 24 hours', () => {
  it('a recorded response is not found, even if its item still exists', async () => {
    await record('done');
    board.clock.now += 24 * hourMs - 1000;
    expect(await find()).toEqual({ data: 'done' });
    board.clock.now += 1000;
    expect(await find()).toBeUndefined();
  });

  it('the key can record another response', async () => {
    await record('first');
    board.clock.now += 24 * hourMs;
    await record('second', { body: { title: 'other words' } });
    expect(await find({ body: { title: 'other words' } })).toEqual({ data: 'second' });
  });
});

describe('a second duplicate request', () => {
  it('throws `AlreadyDone` and keeps the first response', async () => {
    await record('first');
    await expect(record('second')).rejects.toBeInstanceOf(AlreadyDone);
    expect(await find()).toEqual({ data: 'first' });
  });

  it('lets one of eight concurrent duplicate requests create a task', async () => {
    const once = (answer: unknown) => idempotencyRecordWrite(board.app, board.organization, request, answer);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => board.put({}, once)));
    const lost = results.filter((result) => result.status === 'rejected');
    expect(lost).toHaveLength(7);
    for (const { reason } of lost) expect(reason).toBeInstanceOf(AlreadyDone);
    const { total, items } = await listTasks(board, board.organization, {}, { limit: 20, offset: 0 });
    expect(total).toBe(1);
    expect(await find()).toMatchObject({ data: { id: items[0]?.id } });
  });
});
