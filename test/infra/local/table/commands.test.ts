import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { LocalTable } from '../../../../infra/local/table/local-table.ts';
import { isOutage, mayBeProcessed } from '../../../../lib/table/access/lost-responses.ts';
import { isHopeless } from '../../../../lib/workers/hopeless.ts';
import { openTestTable, tableName as TableName } from './test-table.ts';

const key = (sk: string, pk = 'p') => ({ pk, sk });
const mustBeNew = {
  ConditionExpression: 'attribute_not_exists(pk)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const;
const add = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } };

const send = ({ table }: LocalTable, command: object) => table.client.send(command as GetCommand) as Promise<never>;
const put = (local: LocalTable, ...items: object[]) =>
  Promise.all(items.map((Item) => send(local, new PutCommand({ TableName, Item }))));
const get = async (local: LocalTable, Key: object): Promise<unknown> =>
  (await (send(local, new GetCommand({ TableName, Key })) as Promise<{ Item?: object }>)).Item;

async function failureOf(work: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return work.then(
    () => expect.unreachable('The call succeeded.'),
    (error) => error,
  );
}

describe('a single write', () => {
  it('returns the attributes that it is asked for', async () => {
    const local = openTestTable();
    const written = { ...key('a'), n: 1, labels: new Set(['x']) };
    const puts = (ReturnValues: 'ALL_OLD' | 'NONE') =>
      send(local, new PutCommand({ TableName, Item: written, ReturnValues }));
    expect(await puts('ALL_OLD')).toEqual({ $metadata: {} });
    expect(await puts('NONE')).toEqual({ $metadata: {} });
    expect(await puts('ALL_OLD')).toEqual({ $metadata: {}, Attributes: written });
    const update = (ReturnValues: 'ALL_NEW' | 'UPDATED_NEW') =>
      send(local, new UpdateCommand({ TableName, Key: key('a'), ...add, ReturnValues }));
    expect(await update('ALL_NEW')).toMatchObject({ Attributes: { ...written, n: 2 } });
    expect(await update('UPDATED_NEW')).toEqual({ $metadata: {}, Attributes: { n: 3 } });
    const removed = new DeleteCommand({ TableName, Key: key('a'), ReturnValues: 'ALL_OLD' });
    expect(await send(local, removed)).toEqual({ $metadata: {}, Attributes: { ...written, n: 3 } });
    expect(await get(local, key('a'))).toBeUndefined();
  });

  it('creates the item that it updates, and needs no item to delete', async () => {
    const local = openTestTable();
    await send(local, new UpdateCommand({ TableName, Key: key('a'), UpdateExpression: 'REMOVE x' }));
    expect(await get(local, key('a'))).toEqual(key('a'));
    await send(local, new DeleteCommand({ TableName, Key: key('none') }));
  });

  it('throws the exception of the SDK with the stored item if its condition fails', async () => {
    const local = openTestTable();
    await put(local, { ...key('a'), labels: new Set(['x']), n: 1e-7 });
    const error = await failureOf(send(local, new PutCommand({ TableName, Item: key('a'), ...mustBeNew })));
    expect(error).toBeInstanceOf(ConditionalCheckFailedException);
    expect(error).toMatchObject({
      name: 'ConditionalCheckFailedException',
      message: 'The conditional request failed',
      $metadata: { httpStatusCode: 400 },
      Item: { pk: { S: 'p' }, sk: { S: 'a' }, labels: { SS: ['x'] }, n: { N: '0.0000001' } },
    });
    expect([isHopeless(error), isOutage(error), mayBeProcessed(error)]).toEqual([false, false, false]);
    const without = { ...mustBeNew, ReturnValuesOnConditionCheckFailure: 'NONE' } as const;
    const bare = await failureOf(send(local, new PutCommand({ TableName, Item: key('a'), ...without })));
    expect(bare.Item).toBeUndefined();
  });
});

describe('a transaction', () => {
  it('makes all of its writes', async () => {
    const local = openTestTable();
    await put(local, { ...key('old'), n: 1 }, key('gone'));
    const TransactItems = [
      { Put: { TableName, Item: key('new'), ...mustBeNew } },
      { Update: { TableName, Key: key('old'), ...add } },
      { Delete: { TableName, Key: key('gone') } },
      { ConditionCheck: { TableName, Key: key('none'), ConditionExpression: 'attribute_not_exists(pk)' } },
    ];
    await send(local, new TransactWriteCommand({ TransactItems, ClientRequestToken: 'token' }));
    const items = await Promise.all(['new', 'old', 'gone', 'none'].map((sk) => get(local, key(sk))));
    expect(items).toEqual([key('new'), { ...key('old'), n: 2 }, undefined, undefined]);
  });

  it('makes none of its writes if one fails, and has the reasons in their order', async () => {
    const local = openTestTable();
    await put(local, key('taken'), { ...key('text'), n: 'x' });
    const TransactItems = [
      { Put: { TableName, Item: key('free') } },
      { Put: { TableName, Item: key('taken'), ...mustBeNew } },
      { Update: { TableName, Key: key('text'), ...add } },
      { Put: { TableName, Item: { ...key('listed'), due: 1 } } },
      { Delete: { TableName, Key: key('none'), ConditionExpression: 'attribute_exists(pk)' } },
    ];
    const error = await failureOf(send(local, new TransactWriteCommand({ TransactItems })));
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(error).toMatchObject({
      message:
        'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ValidationError, ValidationError, ConditionalCheckFailed]',
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: { pk: { S: 'p' }, sk: { S: 'taken' } } },
        { Code: 'ValidationError', Message: 'An operand in the update expression has an incorrect data type' },
        { Code: 'ValidationError' },
        { Code: 'ConditionalCheckFailed' },
      ],
    });
    expect(await get(local, key('free'))).toBeUndefined();
  });
});

const large = 'x'.repeat(390 * 1024);
const many = (count: number) => Array.from({ length: count }, (_, at) => key(String(at)));

describe('a request beyond the limits of DynamoDB is rejected:', () => {
  it.each<[string, () => object, string]>([
    ['no key', () => new PutCommand({ TableName, Item: { pk: 'p' } }), 'Missing the key sk'],
    ['a number as key', () => new PutCommand({ TableName, Item: { pk: 'p', sk: 1 } }), 'Type mismatch for key sk'],
    ['an empty key', () => new PutCommand({ TableName, Item: key('') }), 'empty string value'],
    ['a long key', () => new PutCommand({ TableName, Item: key('x'.repeat(1025)) }), 'Size of sk has exceeded'],
    ['half a letter as key', () => new PutCommand({ TableName, Item: key('\ud83d') }), 'not well-formed'],
    ['more than a key', () => new GetCommand({ TableName, Key: { ...key('a'), n: 1 } }), 'does not match the schema'],
    [
      'a large item',
      () => new PutCommand({ TableName, Item: { ...key('a'), x: large, y: large } }),
      'maximum allowed size',
    ],
    [
      'an index key of another type',
      () => new PutCommand({ TableName, Item: { ...key('a'), dueAt: 1 } }),
      'Index Key dueAt',
    ],
    ['an empty index key', () => new PutCommand({ TableName, Item: { ...key('a'), due: '' } }), 'IndexKey: due'],
    [
      'a transaction of no items',
      () => new TransactWriteCommand({ TransactItems: [] }),
      'greater than or equal to 1: transactItems',
    ],
    [
      'a transaction of 101 items',
      () => new TransactWriteCommand({ TransactItems: many(101).map((Key) => ({ Delete: { TableName, Key } })) }),
      'less than or equal to 100: transactItems',
    ],
    [
      'a transaction of 4 MB',
      () =>
        new TransactWriteCommand({
          TransactItems: many(11).map((of) => ({ Put: { TableName, Item: { ...of, large } } })),
        }),
      'exceeds 4 MB',
    ],
    [
      'an item twice in a transaction',
      () =>
        new TransactWriteCommand({
          TransactItems: [{ Delete: { TableName, Key: key('a') } }, { Update: { TableName, Key: key('a'), ...add } }],
        }),
      'multiple operations on one item',
    ],
    [
      'a batch of 26 writes',
      () =>
        new BatchWriteCommand({ RequestItems: { [TableName]: many(26).map((Item) => ({ PutRequest: { Item } })) } }),
      'less than or equal to 25',
    ],
    [
      'an item twice in a batch of writes',
      () =>
        new BatchWriteCommand({
          RequestItems: { [TableName]: [{ PutRequest: { Item: key('a') } }, { DeleteRequest: { Key: key('a') } }] },
        }),
      'duplicates',
    ],
    [
      'a batch of 101 keys',
      () => new BatchGetCommand({ RequestItems: { [TableName]: { Keys: many(101) } } }),
      'Too many items',
    ],
    [
      'a key twice in a batch',
      () => new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [key('a'), key('a')] } } }),
      'duplicates',
    ],
    ['a page of no items', () => new ScanCommand({ TableName, Limit: 0 }), 'limit'],
    [
      'a consistent read of the index',
      () => new ScanCommand({ TableName, IndexName: 'due', ConsistentRead: true }),
      'Consistent reads',
    ],
    [
      'a query without the partition',
      () =>
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'sk = :sk',
          ExpressionAttributeValues: { ':sk': 'a' },
        }),
      'missed key schema element: pk',
    ],
    [
      'a filter by the key',
      () =>
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk',
          FilterExpression: 'sk = :pk',
          ExpressionAttributeValues: { ':pk': 'p' },
        }),
      'non-primary key attributes',
    ],
    [
      'a start in another partition',
      () =>
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': 'p' },
          ExclusiveStartKey: key('a', 'q'),
        }),
      'outside query boundaries',
    ],
    [
      'a start before the range',
      () =>
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
          ExpressionAttributeValues: { ':pk': 'p', ':from': 'b', ':to': 'c' },
          ExclusiveStartKey: key('a'),
        }),
      'does not match the range key predicate',
    ],
    [
      'a start at a bound that the range leaves out',
      () =>
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk AND sk < :to',
          ExpressionAttributeValues: { ':pk': 'p', ':to': 'b' },
          ExclusiveStartKey: key('b'),
        }),
      'does not match the range key predicate',
    ],
    [
      'a start beyond a text of 16-bit units that UTF-8 orders before',
      () =>
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk AND sk <= :to',
          ExpressionAttributeValues: { ':pk': 'p', ':to': '\uffee' },
          ExclusiveStartKey: key('🙂'),
        }),
      'does not match the range key predicate',
    ],
  ])('%s', async (_, create, message) => {
    const local = openTestTable();
    const error = await failureOf(send(local, create()));
    expect(error).toMatchObject({ name: 'ValidationException', $metadata: { httpStatusCode: 400 } });
    expect([error.message, isHopeless(error), isOutage(error)]).toEqual([
      expect.stringContaining(message),
      true,
      false,
    ]);
  });

  it('a transaction that updates 4 MB', async () => {
    const local = openTestTable();
    await put(local, ...many(11).map((of) => ({ ...of, large })));
    const TransactItems = many(11).map((Key) => ({ Update: { TableName, Key, ...add } }));
    const error = await failureOf(send(local, new TransactWriteCommand({ TransactItems })));
    expect(error).toMatchObject({ name: 'ValidationException', message: expect.stringContaining('exceeds 4 MB') });
    expect(await get(local, key('0'))).not.toHaveProperty('n');
  });

  it('an update that makes the item too large', async () => {
    const local = openTestTable();
    await put(local, { ...key('a'), large });
    const update = { UpdateExpression: 'SET more = :more', ExpressionAttributeValues: { ':more': large } };
    const error = await failureOf(send(local, new UpdateCommand({ TableName, Key: key('a'), ...update })));
    expect(error.message).toBe('Item size to update has exceeded the maximum allowed size');
  });
});

describe('what no store sends throws its name:', () => {
  it.each<[string, object]>([
    ['CreateTableCommand', new CreateTableCommand({} as never)],
    ['the parameter Segment of Scan', new ScanCommand({ TableName, Segment: 1, TotalSegments: 2 })],
    ['the parameter AttributesToGet of GetItem', new GetCommand({ TableName, Key: key('a'), AttributesToGet: ['a'] })],
    [
      'the value SPECIFIC_ATTRIBUTES of Select of Query',
      new QueryCommand({ TableName, Select: 'SPECIFIC_ATTRIBUTES' }),
    ],
    ['the value other of IndexName of Scan', new ScanCommand({ TableName, IndexName: 'other' })],
    [
      'the value UPDATED_OLD of ReturnValues of UpdateItem',
      new UpdateCommand({ TableName, Key: key('a'), ReturnValues: 'UPDATED_OLD' }),
    ],
    ['a batch for the tables other', new BatchGetCommand({ RequestItems: { other: { Keys: [key('a')] } } })],
    ['binary values', new PutCommand({ TableName, Item: { ...key('a'), of: new Uint8Array(1) } })],
    ['the projection of a nested attribute: a.b', new ScanCommand({ TableName, ProjectionExpression: 'a.b' })],
  ])('%s', async (name, command) => {
    const local = openTestTable();
    const error = await failureOf(send(local, command));
    expect(error.message).toBe(`The table in the process does not support ${name}.`);
  });

  it('another table', async () => {
    const local = openTestTable();
    const error = await failureOf(send(local, new GetCommand({ TableName: 'other', Key: key('a') })));
    expect(error.name).toBe('ResourceNotFoundException');
  });
});

type PageOutput = {
  Items?: { sk: string }[];
  Count: number;
  ScannedCount: number;
  LastEvaluatedKey?: object;
};

const query = (local: LocalTable, more: object = {}, values: object = {}) =>
  send(
    local,
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'p', ...values },
      ConsistentRead: true,
      ...more,
    }),
  ) as Promise<PageOutput>;
const keysOf = ({ Items = [] }: PageOutput) => Items.map(({ sk }) => sk);

describe('a query', () => {
  it('sorts keys by their UTF-8 bytes, in both directions', async () => {
    const local = openTestTable();
    const sorted = ['!', 'a', 'a\u0000', 'aa', 'b', 'é', '\uffee', '🙂'];
    await put(local, ...sorted.toReversed().map((sk) => key(sk)), key('a', 'q'));
    expect(keysOf(await query(local))).toEqual(sorted);
    expect(keysOf(await query(local, { ScanIndexForward: false }))).toEqual(sorted.toReversed());
    const range = { KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to' };
    expect(keysOf(await query(local, range, { ':from': 'a', ':to': '\uffee' }))).toEqual(sorted.slice(1, -1));
    const below = { KeyConditionExpression: 'pk = :pk AND sk < :to' };
    expect(keysOf(await query(local, below, { ':to': 'aa' }))).toEqual(['!', 'a', 'a\u0000']);
  });

  it('ends a page at its limit, before the filter, and begins after a key that may be deleted', async () => {
    const local = openTestTable();
    await put(local, ...['a', 'b', 'c', 'd'].map((sk, n) => ({ ...key(sk), n })));
    const filter = { FilterExpression: 'n >= :n', Limit: 2 };
    const first = await query(local, filter, { ':n': 1 });
    expect(first).toMatchObject({ Count: 1, ScannedCount: 2, LastEvaluatedKey: key('b') });
    await send(local, new DeleteCommand({ TableName, Key: key('b') }));
    const second = await query(local, { ...filter, ExclusiveStartKey: first.LastEvaluatedKey }, { ':n': 1 });
    // A page that is full may be the last one: DynamoDB does not look further.
    expect(second).toMatchObject({ Count: 2, ScannedCount: 2, LastEvaluatedKey: key('d') });
    const third = await query(local, { ...filter, ExclusiveStartKey: second.LastEvaluatedKey }, { ':n': 1 });
    expect(third).toEqual({ $metadata: {}, Items: [], Count: 0, ScannedCount: 0 });
  });

  it('ends a page at 1 MB', async () => {
    const local = openTestTable();
    await put(local, ...['a', 'b', 'c', 'd', 'e'].map((sk) => ({ ...key(sk), large: large.slice(0, 300 * 1024) })));
    const first = await query(local);
    expect([keysOf(first), first.LastEvaluatedKey]).toEqual([['a', 'b', 'c', 'd'], key('d')]);
    const count = await query(local, { Select: 'COUNT' });
    expect(count).toEqual({ $metadata: {}, Count: 4, ScannedCount: 4, LastEvaluatedKey: key('d') });
    const second = await query(local, { ExclusiveStartKey: first.LastEvaluatedKey });
    expect([keysOf(second), second.LastEvaluatedKey]).toEqual([['e'], undefined]);
  });

  it('counts and projects', async () => {
    const local = openTestTable();
    await put(local, { ...key('a'), n: 1, labels: new Set(['x']) }, { ...key('b'), m: 1 });
    expect(await query(local, { Select: 'COUNT' })).toEqual({ $metadata: {}, Count: 2, ScannedCount: 2 });
    const filter = { Select: 'COUNT', FilterExpression: 'attribute_exists(n)' };
    expect(await query(local, filter)).toEqual({ $metadata: {}, Count: 1, ScannedCount: 2 });
    const only = { ProjectionExpression: '#only0, labels', ExpressionAttributeNames: { '#only0': 'sk' } };
    expect((await query(local, only)).Items).toEqual([{ sk: 'a', labels: new Set(['x']) }, { sk: 'b' }]);
  });

  it('reads the index, which has the keys of the items with both of its attributes', async () => {
    const local = openTestTable();
    const listed = (sk: string, dueAt: string) => ({ ...key(sk), due: 'D', dueAt });
    const items = [listed('a', '3'), listed('b', '1'), listed('c', '2'), listed('d', '2')];
    await put(
      local,
      ...items.map((item) => ({ ...item, text: 'x' })),
      { ...key('e'), due: 'D' },
      { ...key('f'), dueAt: '1' },
    );
    const inIndex = {
      IndexName: 'due',
      ConsistentRead: false,
      KeyConditionExpression: '#due = :pk AND #dueAt <= :until',
      ExpressionAttributeNames: { '#due': 'due', '#dueAt': 'dueAt' },
      Limit: 2,
    };
    const values = { ':pk': 'D', ':until': '3' };
    const first = await query(local, inIndex, values);
    expect([first.Items, first.LastEvaluatedKey]).toEqual([[items[1], items[2]], items[2]]);
    const next = { ...inIndex, ExclusiveStartKey: first.LastEvaluatedKey };
    expect(keysOf(await query(local, next, values))).toEqual(['d', 'a']);
    await send(local, new UpdateCommand({ TableName, Key: key('d'), UpdateExpression: 'REMOVE due' }));
    expect(keysOf(await query(local, next, values))).toEqual(['a']);
    const scan = (await send(local, new ScanCommand({ TableName, IndexName: 'due' }))) as PageOutput;
    expect(keysOf(scan)).toEqual(['b', 'c', 'a']);
  });
});

it('a batch reads at most 16 MB, and returns the other keys', async () => {
  const local = openTestTable();
  await put(local, ...many(45).map((of) => ({ ...of, large })));
  const Keys = [...many(45), key('none')];
  const read = { RequestItems: { [TableName]: { Keys, ConsistentRead: true } } };
  const { Responses, UnprocessedKeys } = (await send(local, new BatchGetCommand(read))) as {
    Responses: Record<string, object[]>;
    UnprocessedKeys: Record<string, object>;
  };
  expect(Responses[TableName]).toHaveLength(42);
  expect(UnprocessedKeys[TableName]).toEqual({ Keys: Keys.slice(42), ConsistentRead: true });
});

it('counts the capacity that DynamoDB charges, if a request wants it', async () => {
  const local = openTestTable();
  const ReturnConsumedCapacity = 'INDEXES' as const;
  const capacity = async (command: object) =>
    ((await send(local, command)) as { ConsumedCapacity: object }).ConsumedCapacity;
  const used = (table: number, index = 0) => ({
    TableName,
    CapacityUnits: table + index,
    Table: { CapacityUnits: table },
    ...(index > 0 && { GlobalSecondaryIndexes: { due: { CapacityUnits: index } } }),
  });
  const item = { ...key('a'), x: 'x'.repeat(1024), due: 'D', dueAt: '1' };
  expect(await capacity(new PutCommand({ TableName, Item: item, ReturnConsumedCapacity }))).toEqual(used(2, 1));
  const later = { UpdateExpression: 'SET dueAt = :at', ExpressionAttributeValues: { ':at': '2' } };
  const update = { TableName, Key: key('a'), ...later };
  expect(await capacity(new UpdateCommand({ ...update, ReturnConsumedCapacity }))).toEqual(used(2, 2));
  const TransactItems = [{ Update: update }, { Delete: { TableName, Key: key('none') } }];
  expect(await capacity(new TransactWriteCommand({ TransactItems, ReturnConsumedCapacity }))).toEqual([used(6)]);
  const requests = [{ PutRequest: { Item: key('b') } }, { DeleteRequest: { Key: key('c') } }];
  const batch = new BatchWriteCommand({ RequestItems: { [TableName]: requests }, ReturnConsumedCapacity });
  expect(await capacity(batch)).toEqual([used(2)]);
  const read = { TableName, Key: key('a'), ReturnConsumedCapacity };
  expect(await capacity(new GetCommand({ ...read, ConsistentRead: true }))).toEqual(used(1));
  expect(await capacity(new GetCommand(read))).toEqual(used(0.5));
});
