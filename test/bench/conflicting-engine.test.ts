import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { openTable, type Table } from '../../lib/table/client.ts';
import { getItem } from '../../lib/table/reads.ts';
import { transact } from '../../lib/table/transact.ts';
import type { Write } from '../../lib/table/write.ts';
import { openService } from '../service.ts';
import { type ConflictingEngine, startConflictingEngine } from './conflicting-engine.ts';

let engine: ConflictingEngine;
let table: Table;
let pauses: number;
/** Ends the windows of all transactions, those to come too. */
let endWindows: () => void;
/** The window that opens next. */
let opened: PromiseWithResolvers<void>;
/** The transactions in progress. */
let over: Promise<unknown>[];

beforeEach(async () => {
  const service = await openService();
  over = [];
  const { promise: end, resolve } = Promise.withResolvers<void>();
  endWindows = resolve;
  opened = Promise.withResolvers();
  engine = await startConflictingEngine(service.endpoint, () => {
    opened.resolve();
    return end;
  });
  pauses = 0;
  const sleep = async () => {
    pauses += 1;
  };
  table = { ...openTable(service.tableName, engine.endpoint), sleep };
});
afterEach(async () => {
  endWindows();
  await Promise.all(over);
  table.client.destroy();
  engine.stop();
});

const add = (pk: string): Write => ({
  Update: {
    Key: { pk, sk: '-' },
    UpdateExpression: 'ADD #n :one',
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':one': 1 },
  },
});
const put = (pk: string): Write => ({ Put: { Item: { pk, sk: '-' } } });

/** Starts a transaction that is in progress until the windows end. */
async function underWay(...writes: Write[]): Promise<void> {
  opened = Promise.withResolvers();
  over.push(transact(table, writes));
  await opened.promise;
}

it('a transaction conflicts while another is in progress on its item; tries and conflicts are counted', async () => {
  await underWay(put('first'), add('counter'));
  const refused = transact(table, [put('second'), add('counter')]);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  expect(pauses).toBe(7);
  expect(await getItem(table, { pk: 'second', sk: '-' })).toBeUndefined();
  expect(engine.take()).toEqual({ attempts: [1, 8], conflicts: { counter: 8 } });
  expect(engine.take()).toEqual({ attempts: [], conflicts: {} });
});

it('a single write conflicts with a transaction, but holds no item', async () => {
  await underWay(put('first'), add('counter'));
  await expect(transact(table, [add('counter')])).rejects.toMatchObject({ code: 'unavailable' });
  expect(engine.take().conflicts).toEqual({ counter: 8 });
});

it('a retried transaction succeeds once the other has ended', async () => {
  table.sleep = async () => endWindows();
  await underWay(put('first'), add('counter'));
  await transact(table, [put('second'), add('counter')]);
  expect(await getItem(table, { pk: 'counter', sk: '-' })).toMatchObject({ n: 2 });
  expect(engine.take().attempts).toEqual([1, 2]);
});

it('a failed condition has the response of the engine', async () => {
  endWindows();
  await transact(table, [put('first'), put('other')]);
  const ConditionExpression = 'attribute_not_exists(pk)';
  const taken = {
    Put: { Item: { pk: 'first', sk: '-' }, ConditionExpression },
    onConditionFailed: () => new Error('taken'),
  };
  await expect(transact(table, [taken, put('third')])).rejects.toThrow('taken');
  expect(engine.take()).toEqual({ attempts: [1, 1], conflicts: {} });
});
