import { GetCommand, PutCommand, ScanCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { asException } from '../../../../../infra/local/table/exceptions.ts';
import { openMemoryDatabase } from '../../../../../infra/local/table/file/open-database.ts';
import { type LocalTable, openLocalTable } from '../../../../../infra/local/table/local-table.ts';
import { rowOf } from '../../../../../infra/local/table/rows.ts';
import {
  createInlineCommitter,
  createThreadCommitter,
  createWriteQueue,
  WriterEnded,
} from '../../../../../infra/local/table/writes/write-queue.ts';
import {
  type Batch,
  type BatchResult,
  CommitFailed,
  type WriteJob,
} from '../../../../../infra/local/table/writes/writer.ts';
import { isOutage, mayBeProcessed } from '../../../../../lib/table/access/lost-responses.ts';
import { newFile, openTestTable, tableName as TableName } from '../test-table.ts';

const key = (sk: string) => ({ pk: 'p', sk });
const mustBeNew = { ConditionExpression: 'attribute_not_exists(pk)' };
const put = ({ table }: LocalTable, sk: string, more: object = {}) =>
  table.client.send(new PutCommand({ TableName, Item: { ...key(sk), ...more }, ...mustBeNew }));
const keysIn = async ({ table }: LocalTable) =>
  ((await table.client.send(new ScanCommand({ TableName }))).Items ?? []).map(({ sk }) => sk);

describe.each(['in a thread', 'in memory'])('the writes of a table %s', (where) => {
  const open = () => openTestTable(where === 'in memory' ? {} : { path: newFile() });

  it('that are sent in one turn are committed together', async () => {
    const local = await open();
    await Promise.all(['a', 'b', 'c'].map((sk) => put(local, sk)));
    expect(local.statistics).toMatchObject({ commits: 1, writes: 3 });
    await put(local, 'd');
    expect(local.statistics).toMatchObject({ commits: 2, writes: 4 });
  });

  it('see those before them in the same commit, and fail alone', async () => {
    const local = await open();
    const transaction = new TransactWriteCommand({
      TransactItems: [{ Put: { TableName, Item: key('b') } }, { Put: { TableName, Item: key('a'), ...mustBeNew } }],
    });
    const results = await Promise.allSettled([
      put(local, 'a'),
      put(local, 'a'),
      local.table.client.send(transaction),
      put(local, 'c'),
    ]);
    expect(results.map((result) => (result.status === 'rejected' ? result.reason.name : 'done'))).toEqual([
      'done',
      'ConditionalCheckFailedException',
      'TransactionCanceledException',
      'done',
    ]);
    expect(local.statistics.commits).toBe(1);
    expect(await keysIn(local)).toEqual(['a', 'c']);
  });

  it('that are not supported fail alone, too', async () => {
    const local = await open();
    await put(local, 'a', { text: 'x' });
    const sized = { ConditionExpression: 'size(#t) < :n', ExpressionAttributeNames: { '#t': 'text' } };
    const unsupported = local.table.client.send(
      new PutCommand({ TableName, Item: key('a'), ...sized, ExpressionAttributeValues: { ':n': 1 } }),
    );
    const other = put(local, 'b');
    await expect(unsupported).rejects.toThrow('size() of other values');
    await other;
  });

  it('can be read once they are answered', async () => {
    const local = await open();
    for (let n = 0; n < 20; n++) {
      await put(local, String(n), { n });
      const { Item } = await local.table.client.send(new GetCommand({ TableName, Key: key(String(n)) }));
      expect(Item?.n).toBe(n);
    }
  });

  it('that are in flight are made before the table is closed, and later ones fail', async () => {
    const local = await open();
    const first = put(local, 'a');
    const closed = local.close();
    const late = expect(put(local, 'b')).rejects.toMatchObject({ name: 'TableClosed' });
    await Promise.all([first, closed, late]);
  });
});

it('a table in a file has its items after it is opened again', async () => {
  const path = newFile();
  const first = openLocalTable({ path, tableName: TableName, kinds: [] });
  await put(first, 'a', { labels: new Set(['x']) });
  await first.close();
  const second = openTestTable({ path, inThread: false });
  await put(second, 'b');
  const { Items } = await second.table.client.send(new ScanCommand({ TableName }));
  expect(Items).toEqual([{ ...key('a'), labels: new Set(['x']) }, key('b')]);
});

const putJob = (sk: string, more: object = {}): WriteJob => {
  const row = rowOf({ ...key(sk), ...more });
  return { is: 'single', writes: [{ action: 'put', pk: row.pk, sk: row.sk, row }] };
};

describe('the queue of writes', () => {
  it('collects the writes that arrive during a commit for the next one', async () => {
    const commits: { batch: Batch; answer: () => void }[] = [];
    const commit = (batch: Batch) =>
      new Promise<BatchResult>((resolve) => {
        const results = batch.jobs.map(() => ({ units: { table: 1, index: 0 } }));
        commits.push({ batch, answer: () => resolve({ results, changes: 0 }) });
      });
    const committer = { commit, close: async () => {}, ended: new Promise<void>(() => {}) };
    const onCommit = vi.fn();
    const queue = createWriteQueue(committer, () => 7, onCommit);
    const first = queue.write(putJob('a'));
    await vi.waitFor(() => expect(commits).toHaveLength(1));
    const others = [queue.write(putJob('b')), queue.write(putJob('c'))];
    queue.forgetChanges(3);
    queue.forgetChanges(2);
    commits[0]?.answer();
    await first;
    await vi.waitFor(() => expect(commits).toHaveLength(2));
    expect(commits[1]?.batch).toMatchObject({ jobs: [putJob('b'), putJob('c')], now: 7, handledUpTo: 3 });
    commits[1]?.answer();
    await Promise.all(others);
    expect(onCommit.mock.calls).toEqual([[{ jobs: 1, changes: 0 }], [{ jobs: 2, changes: 0 }]]);
  });

  /** Returns a queue whose database can have only this many more pages, and the database. */
  function createFullQueue(pages: number) {
    const database = openMemoryDatabase();
    const used = Number(database.prepare('PRAGMA page_count').get()?.page_count);
    database.exec(`PRAGMA max_page_count = ${used + pages}`);
    return {
      database,
      queue: createWriteQueue(createInlineCommitter(database, 'full', { kinds: ['task'] }), Date.now, () => {}),
    };
  }

  it('rolls a whole commit back if the disk is full, and recovers', async () => {
    const { database, queue } = createFullQueue(2);
    const large = { text: 'x'.repeat(100_000) };
    const count = (of: string) => database.prepare(`SELECT count(*) AS count FROM ${of}`).get()?.count;
    await queue.write(putJob('task', { kind: 'task' }));
    queue.forgetChanges(1);
    const results = await Promise.allSettled([queue.write(putJob('a')), queue.write(putJob('b', large))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([count('items'), count('changes')]).toEqual([1, 1]);
    database.exec('PRAGMA max_page_count = 10000');
    await Promise.all([queue.write(putJob('a')), queue.write(putJob('b', large))]);
    expect([count('items'), count('changes')]).toEqual([3, 0]);
    await queue.close();
  });
});

it('reports that the thread that writes has ended, and fails later writes', async () => {
  const committer = createThreadCommitter({ path: '/none/items.db', durability: 'full', kinds: [] });
  const queue = createWriteQueue(committer, Date.now, () => {});
  const error = await queue.write(putJob('a')).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(WriterEnded);
  expect(error.cause.message).toBe('unable to open database file');
  await queue.ended;
  await expect(queue.write(putJob('a'))).rejects.toBe(error);
  await queue.close();
});

describe('the error of a write', () => {
  const failed = (code: number, isRolledBack: boolean) =>
    asException(new CommitFailed({ message: 'it failed', code, isRolledBack }));

  it.each<[string, unknown, object, boolean]>([
    ['a full disk, at which nothing was changed', failed(13, true), { name: 'DiskFull' }, false],
    ['a disk error before the commit', failed(10, true), { name: 'InternalServerError' }, false],
    ['a disk error in the commit', failed(10, false), { name: 'InternalServerError' }, true],
    ['the end of the thread', asException(new WriterEnded('it ended')), { name: 'InternalServerError' }, true],
  ])('says whether it may be made, after %s', (_, error, expected, isUnknown) => {
    expect(error).toMatchObject({ ...expected, $metadata: { httpStatusCode: 500 } });
    expect([isOutage(error), mayBeProcessed(error)]).toEqual([true, isUnknown]);
  });
});
