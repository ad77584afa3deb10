import { beforeEach, describe, expect, it } from 'vitest';
import type { Request } from '../../lib/table/idempotency.ts';
import {
  deleteIdempotencyLease,
  idempotencyRecordWrite,
  leaseIdempotencyRecord,
  readIdempotencyRecord,
} from '../../lib/table/idempotency.ts';
import { AlreadyDone, transact } from '../../lib/table/transact.ts';
import { dumpOf } from '../table-dump.ts';
import { createTestTable, type TestTable } from './tasks/test-table.ts';

const leaseMs = 30_000;
const dayMs = 24 * 60 * 60 * 1000;
const request: Request = { key: 'key-1', operation: 'POST /calls', path: '/calls', body: { text: 'secret words' } };

let board: TestTable;
const asked = (differing: Partial<Request> = {}) => ({ ...request, ...differing });
const find = (differing?: Partial<Request>) => readIdempotencyRecord(board.app, board.organization, asked(differing));
const begin = (differing?: Partial<Request>) => leaseIdempotencyRecord(board.app, board.organization, asked(differing));
const release = (claim: string) => deleteIdempotencyLease(board.app, board.organization, request, claim);
const record = (answer: unknown, claim?: string) =>
  transact(board.table, [idempotencyRecordWrite(board.app, board.organization, request, answer, claim)]);

beforeEach(async () => {
  board = await createTestTable();
});

describe('a request in progress', () => {
  it('is found as in progress until its lease expires', async () => {
    await begin();
    expect(await find()).toBe('in progress');
    board.clock.now += leaseMs - 1;
    expect(await find()).toBe('in progress');
    board.clock.now += 1;
    expect(await find()).toBeUndefined();
  });

  it.each([
    ['body', { body: { text: 'other words' } }],
    ['path', { path: '/others' }],
  ])('is another request if the %s differs, until its lease expires', async (_, differing) => {
    await begin();
    expect(await find(differing)).toBe('another request');
    await expect(begin(differing)).rejects.toBeInstanceOf(AlreadyDone);
    board.clock.now += leaseMs;
    expect(await find(differing)).toBeUndefined();
    await begin(differing);
    expect(await find()).toBe('another request');
  });

  it('is leased by one of ten duplicate requests, and the others find it in progress', async () => {
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => begin()));
    const lost = results.filter((result) => result.status === 'rejected');
    expect(lost).toHaveLength(9);
    for (const { reason } of lost) expect(reason).toBeInstanceOf(AlreadyDone);
  });

  it('is stored without its key and its body', async () => {
    await begin();
    const items = JSON.stringify(await dumpOf(board.table, board.organization));
    expect(items).toContain('leaseUntil');
    expect(items).not.toMatch(/key-1|secret words/);
  });
});

describe('the response to a request in progress', () => {
  it('replaces its lease, for 24 hours from then', async () => {
    const claim = await begin();
    board.clock.now += 10_000;
    await record({ id: 'dlv_1' }, claim);
    expect(await find()).toEqual({ data: { id: 'dlv_1' } });
    await expect(begin()).rejects.toBeInstanceOf(AlreadyDone);
    board.clock.now += dayMs - 1000;
    expect(await find()).toEqual({ data: { id: 'dlv_1' } });
    board.clock.now += 1000;
    expect(await find()).toBeUndefined();
    await begin();
  });

  it('is not removed by a later release', async () => {
    const claim = await begin();
    await record('done', claim);
    await release(claim);
    expect(await find()).toEqual({ data: 'done' });
  });

  it('is recorded after the lease has expired, if no other request has leased it', async () => {
    const claim = await begin();
    board.clock.now += 10 * leaseMs;
    await record('late', claim);
    expect(await find()).toEqual({ data: 'late' });
  });
});

describe('a request that fails', () => {
  it('can begin again at once', async () => {
    await release(await begin());
    expect(await find()).toBeUndefined();
    await begin();
    expect(await find()).toBe('in progress');
  });

  it('may be released twice', async () => {
    const claim = await begin();
    await release(claim);
    await release(claim);
    expect(await find()).toBeUndefined();
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

  it('cannot record a response while the other is in progress', async () => {
    await expect(record('of the late one', late)).rejects.toBeInstanceOf(AlreadyDone);
    expect(await find()).toBe('in progress');
    await record('of the other', claim);
    expect(await find()).toEqual({ data: 'of the other' });
  });

  it('cannot overwrite the response of the other', async () => {
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
