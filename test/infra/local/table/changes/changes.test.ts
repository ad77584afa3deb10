import {
  BatchWriteCommand,
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { deleteExpiredItems, startExpiry } from '../../../../../infra/local/table/expiry.ts';
import { type LocalTable, openLocalTable } from '../../../../../infra/local/table/local-table.ts';
import { newFile, openTestTable, tableName as TableName } from '../test-table.ts';

const key = (sk: string) => ({ pk: 'p', sk });
const keyImage = (sk: string) => ({ pk: { S: 'p' }, sk: { S: sk } });
const put = ({ table }: LocalTable, ...items: object[]) =>
  Promise.all(items.map((Item) => table.client.send(new PutCommand({ TableName, Item: Item as never }))));
const numbersOf = ({ changes }: LocalTable, after?: string) =>
  changes.after(after, 100).map(({ dynamodb }) => dynamodb?.SequenceNumber);

describe('the recorded changes', () => {
  it('are those of items of the wanted kinds, in their order, as records of the stream', async () => {
    const local = openTestTable({ clock: () => 1_700_000_000_999 });
    const { client } = local.table;
    await put(local, { ...key('a'), kind: 'task', n: 1, labels: new Set(['x']) }, { ...key('b'), kind: 'other' });
    const update = { UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': 1e-7 } };
    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Update: { TableName, Key: key('a'), ...update } },
          { Update: { TableName, Key: key('b'), ...update } },
        ],
      }),
    );
    await client.send(new DeleteCommand({ TableName, Key: key('a') }));
    const before = { ...keyImage('a'), kind: { S: 'task' }, n: { N: '1' }, labels: { SS: ['x'] } };
    const after = { ...before, n: { N: '0.0000001' } };
    const record = (number: number, eventName: string, images: object) => ({
      eventID: String(number),
      eventName,
      eventSource: 'aws:dynamodb',
      dynamodb: {
        ApproximateCreationDateTime: 1_700_000_000,
        Keys: keyImage('a'),
        SequenceNumber: String(number),
        StreamViewType: 'NEW_AND_OLD_IMAGES',
        ...images,
      },
    });
    expect(local.changes.after(undefined, 100)).toEqual([
      record(1, 'INSERT', { NewImage: before }),
      record(2, 'MODIFY', { OldImage: before, NewImage: after }),
      record(3, 'REMOVE', { OldImage: after }),
    ]);
    expect([local.changes.after('1', 1).length, numbersOf(local, '2')]).toEqual([1, ['3']]);
  });

  it('are none if a write changes nothing or fails', async () => {
    const local = openTestTable();
    await put(local, { ...key('a'), kind: 'task' });
    await put(local, { ...key('a'), kind: 'task' });
    const same = { UpdateExpression: 'SET kind = :kind', ExpressionAttributeValues: { ':kind': 'task' } };
    await local.table.client.send(new UpdateCommand({ TableName, Key: key('a'), ...same }));
    const failing = { TableName, Key: key('a'), ConditionExpression: 'attribute_not_exists(pk)' };
    await expect(local.table.client.send(new DeleteCommand(failing))).rejects.toThrow();
    await local.table.client.send(new DeleteCommand({ TableName, Key: key('none') }));
    expect(numbersOf(local)).toEqual(['1']);
  });

  it('include items that leave or enter a kind', async () => {
    const local = openTestTable();
    for (const kind of ['other', 'task', 'other', 'another']) await put(local, { ...key('a'), kind });
    expect(local.changes.after(undefined, 9).map(({ eventName }) => eventName)).toEqual(['MODIFY', 'MODIFY']);
  });

  it('leave out those of an item that exists and then has the value of a quiet change', async () => {
    const quiet = { kind: 'task', attribute: 'status', value: 'running' };
    const local = openTestTable({ kinds: ['task', 'other'], quiet });
    const states = [
      { kind: 'task', status: 'running', n: 1 },
      { kind: 'task', status: 'running', n: 2, tags: new Set(['a']) },
      { kind: 'task', status: 'done', n: 2 },
      { kind: 'task', status: 'done', n: 3 },
      { kind: 'other', status: 'running', n: 3 },
      { kind: 'other', status: 'running', n: 4 },
    ];
    for (const state of states) await put(local, { ...key('a'), ...state });
    await local.table.client.send(new DeleteCommand({ TableName, Key: key('a') }));
    const seen = local.changes.after(undefined, 9).map(({ eventName, dynamodb: { NewImage } = {} }) => {
      return [eventName, NewImage?.n?.N, NewImage?.status?.S];
    });
    expect(seen).toEqual([
      ['INSERT', '1', 'running'],
      ['MODIFY', '2', 'done'],
      ['MODIFY', '3', 'done'],
      ['MODIFY', '3', 'running'],
      ['MODIFY', '4', 'running'],
      ['REMOVE', undefined, undefined],
    ]);
  });

  it('are announced after their commit, once for all', async () => {
    const local = openTestTable();
    const listener = vi.fn(() => expect(numbersOf(local)).toHaveLength(2));
    const stop = local.changes.onRecorded(listener);
    await put(local, { ...key('a'), kind: 'task' }, { ...key('b'), kind: 'task' }, key('c'));
    await put(local, key('c'));
    expect(listener).toHaveBeenCalledOnce();
    stop();
    await put(local, { ...key('d'), kind: 'task' });
    expect(listener).toHaveBeenCalledOnce();
  });

  it('are deleted with the next commit, and never have the number of a deleted one', async () => {
    const path = newFile();
    const options = { path, tableName: TableName, kinds: ['task'] };
    const first = openLocalTable(options);
    const task = (sk: string) => ({ ...key(sk), kind: 'task' });
    await put(first, task('a'), task('b'), task('c'));
    first.changes.forget('2');
    expect(numbersOf(first)).toEqual(['1', '2', '3']);
    await put(first, key('d'));
    expect(numbersOf(first)).toEqual(['3']);
    first.changes.forget('3');
    await first.close();
    const second = openTestTable(options);
    expect(numbersOf(second)).toEqual([]);
    await put(second, task('e'));
    expect(numbersOf(second)).toEqual(['4']);
  });

  it('are deleted without a further write, after a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const local = openTestTable();
    await put(local, { ...key('a'), kind: 'task' });
    local.changes.forget('1');
    await vi.advanceTimersByTimeAsync(999);
    expect(numbersOf(local)).toEqual(['1']);
    await vi.advanceTimersByTimeAsync(1);
    expect(numbersOf(local)).toEqual([]);
    vi.useRealTimers();
  });

  it('include each put and deletion of a batch', async () => {
    const local = openTestTable();
    const requests = [{ PutRequest: { Item: { ...key('a'), kind: 'task' } } }, { DeleteRequest: { Key: key('b') } }];
    await put(local, { ...key('b'), kind: 'task' });
    await local.table.client.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }));
    expect(local.changes.after('1', 9).map(({ eventName }) => eventName)).toEqual(['INSERT', 'REMOVE']);
  });
});

describe('expired items', () => {
  it('are deleted in small commits, and their changes are recorded', async () => {
    const now = 1_700_000_000;
    const local = openTestTable({ clock: () => now * 1000 });
    const items = Array.from({ length: 120 }, (_, n) => ({ ...key(String(n)), expiresAt: now - 1, kind: 'task' }));
    await put(local, ...items, { ...key('now'), expiresAt: now }, { ...key('text'), expiresAt: '1' }, key('never'));
    const { commits } = local.statistics;
    expect(await deleteExpiredItems(local)).toBe(120);
    expect(local.statistics.commits - commits).toBe(3);
    expect(local.changes.after('120', 999).map(({ eventName }) => eventName)).toEqual(items.map(() => 'REMOVE'));
    expect(await deleteExpiredItems(local)).toBe(0);
  });

  it('are deleted every minute until it is stopped, also after an error', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const waits: number[] = [];
    const { promise: isDone, resolve } = Promise.withResolvers<void>();
    const deleteExpired = vi.fn(async () => {
      if (deleteExpired.mock.calls.length === 1) throw new Error('for the test');
      resolve();
      return 0;
    });
    const stop = startExpiry({ deleteExpired }, async (milliseconds, signal) => {
      const isThird = waits.push(milliseconds) === 3;
      if (isThird && !signal.aborted) await new Promise((ended) => signal.addEventListener('abort', ended));
    });
    await isDone;
    await stop();
    expect([waits, deleteExpired.mock.calls.length, error.mock.calls.length]).toEqual([[60_000, 60_000, 60_000], 2, 1]);
  });
});
