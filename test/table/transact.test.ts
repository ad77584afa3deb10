import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { ApiError, type ErrorCode } from '../../lib/contract/errors.ts';
import { AlreadyDone, Conflict, retryOnConflict, transact } from '../../lib/table/transact.ts';
import type { OnConditionFailed, Write } from '../../lib/table/write.ts';
import { errorOf } from './board.ts';
import { cancelled, conflict, dynamodbError, inProgress } from './dynamodb-errors.ts';
import { type DynamoDBMock, failFirst, mockTable, tokensOf, transactionsOf } from './mock-table.ts';

const put = (sk: string, onConditionFailed?: OnConditionFailed): Write => ({
  Put: { Item: { pk: 'p', sk }, ConditionExpression: 'attribute_not_exists(pk)' },
  ...(onConditionFailed && { onConditionFailed }),
});
const two = [put('a'), put('b')];

/** The items of each transaction that was sent. */
const itemsOf = (dynamodb: DynamoDBMock) => transactionsOf(dynamodb).map(({ TransactItems }) => TransactItems);
const refusal = (code: ErrorCode, path: string) => () =>
  new ApiError(code, `${code} at ${path}`, [{ path, code: 'invalid_value', message: path }]);

describe('a transaction that is cancelled', () => {
  const passing = [
    ['for a conflict', cancelled('TransactionConflict', 'None')],
    ['for conflicts of all its items', cancelled('TransactionConflict', 'TransactionConflict')],
    ['for throttling', cancelled('ThrottlingError', 'None')],
    ['for throughput', cancelled('None', 'ProvisionedThroughputExceeded')],
    ['for the request limit', cancelled('RequestLimitExceeded', 'TransactionConflict')],
    ['as one still in progress', inProgress()],
    ['by throttling of the whole request', dynamodbError('ThrottlingException')],
    ['by throughput of the whole request', dynamodbError('ProvisionedThroughputExceededException')],
  ] as const;

  it.each(passing)('%s is sent again, the same items under the same token', async (_, error) => {
    const { table, dynamodb } = mockTable();
    failFirst(dynamodb, error, error, error);
    await transact(table, two);
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 4);
    expect(new Set(tokensOf(dynamodb)).size).toBe(1);
    for (const items of itemsOf(dynamodb)) expect(items).toEqual(itemsOf(dynamodb)[0]);
  });

  it.each(passing)('%s eight times over is unavailable', async (_, error) => {
    const { table, dynamodb, pauses } = mockTable();
    dynamodb.rejects(error);
    const refused = await errorOf(transact(table, two));
    expect(refused?.code).toBe('unavailable');
    expect(refused?.headers).toEqual({ 'Retry-After': '1' });
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 8);
    expect(pauses).toHaveLength(7);
  });

  it('for a failed condition among conflicts is decided by the condition, at once', async () => {
    const found = { pk: 'p', sk: 'b', version: 3, tags: new Set(['x']) };
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(cancelled('TransactionConflict', { failed: found }));
    let told: unknown;
    const onConditionFailed: OnConditionFailed = (item) => {
      told = item;
      return new Conflict();
    };
    await expect(transact(table, [put('a'), put('b', onConditionFailed)])).rejects.toBeInstanceOf(Conflict);
    expect(told).toEqual(found);
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });

  it('for a reason of our own making is an error and not tried again', async () => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(cancelled('ValidationError', 'TransactionConflict'));
    await expect(transact(table, two)).rejects.toThrow('Cancelled.');
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });

  it('without reasons is an error and not tried again', async () => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(cancelled());
    await expect(transact(table, two)).rejects.toThrow('Cancelled.');
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });
});

it('another transaction has another token', async () => {
  const { table, dynamodb } = mockTable();
  await transact(table, two);
  await transact(table, two);
  expect(new Set(tokensOf(dynamodb)).size).toBe(2);
});

it('a transaction asks of each of its items what a failed condition found', async () => {
  const { table, dynamodb } = mockTable();
  await transact(table, two);
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
  const TransactItems = two.map((write) => ({ Put: { ...('Put' in write && write.Put), ...common } }));
  expect(itemsOf(dynamodb)).toEqual([TransactItems]);
});

describe('a transaction that meets another over a counter', () => {
  const counter: Write = {
    Update: { Key: { pk: 'c', sk: '0' }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
    keyIn: (shard) => ({ pk: 'c', sk: `${shard}` }),
  };
  const met = cancelled('None', 'TransactionConflict');

  it('is another transaction, under another token', async () => {
    const { table, dynamodb } = mockTable();
    failFirst(dynamodb, met);
    await transact(table, [put('a'), counter]);
    expect(new Set(tokensOf(dynamodb)).size).toBe(2);
  });

  it('stays the same where an earlier try may be carried out yet', async () => {
    const { table, dynamodb } = mockTable();
    failFirst(dynamodb, inProgress(), met, met, met);
    await transact(table, [put('a'), counter]);
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 5);
    expect(new Set(tokensOf(dynamodb)).size).toBe(1);
    for (const items of itemsOf(dynamodb)) expect(items).toEqual(itemsOf(dynamodb)[0]);
  });
});

describe('a single write', () => {
  it.each([
    ['in conflict with a transaction', conflict()],
    ['throttled', dynamodbError('ThrottlingException')],
    ['over the throughput', dynamodbError('ProvisionedThroughputExceededException')],
    ['over the request limit', dynamodbError('RequestLimitExceeded')],
  ])('%s is sent again, and is unavailable after eight tries', async (_, error) => {
    const passes = mockTable();
    failFirst(passes.dynamodb, ...Array(7).fill(error));
    await transact(passes.table, [put('a')]);
    expect(passes.dynamodb).toHaveReceivedCommandTimes(PutCommand, 8);
    const lasts = mockTable();
    lasts.dynamodb.rejects(error);
    expect((await errorOf(transact(lasts.table, [put('a')])))?.code).toBe('unavailable');
    expect(lasts.dynamodb).toHaveReceivedCommandTimes(PutCommand, 8);
    expect(lasts.pauses).toHaveLength(7);
  });

  it('that fails otherwise is that error, at once', async () => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(dynamodbError('ResourceNotFoundException'));
    await expect(transact(table, [put('a')])).rejects.toThrow('ResourceNotFoundException');
    expect(dynamodb).toHaveReceivedCommandTimes(PutCommand, 1);
  });
});

describe('of several failed conditions', () => {
  const failing = async (...meanings: OnConditionFailed[]): Promise<Error> => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(cancelled(...meanings.map((_, at) => ({ failed: { pk: 'p', sk: `${at}` } }))));
    const writes = meanings.map((onConditionFailed, at) => put(`${at}`, onConditionFailed));
    return transact(table, writes).then(
      () => new Error('It was written.'),
      (error: Error) => error,
    );
  };

  it('those of one code are one refusal with all their details', async () => {
    const unknown = (path: string) => refusal('unknown_reference', path);
    const error = await failing(unknown('dependsOn.0'), unknown('dependsOn.2'), unknown('assignedAgent'));
    const details = error instanceof ApiError ? error.details.map(({ path }) => path) : error;
    expect(details).toEqual(['dependsOn.0', 'dependsOn.2', 'assignedAgent']);
  });

  it('the refusal is meant that is checked first: 404, 412, 422, 403, 409, 429', async () => {
    const inOrder: ErrorCode[] = [
      'not_found',
      'precondition_failed',
      'unknown_reference',
      'system_agent',
      'limit_reached',
      'rate_limited',
    ];
    for (let first = 0; first < inOrder.length - 1; first++) {
      const later = inOrder.slice(first).toReversed();
      expect(await failing(...later.map((code) => refusal(code, code)))).toMatchObject({ code: inOrder[first] });
    }
  });

  it('the details are those of the refusal that is meant', async () => {
    const error = await failing(refusal('limit_reached', 'dependsOn.0'), refusal('unknown_reference', 'dependsOn.1'));
    expect(error).toMatchObject({ code: 'unknown_reference', details: [{ path: 'dependsOn.1' }] });
  });

  it('a fresh decision comes before a refusal', async () => {
    const error = await failing(refusal('not_found', 'a'), () => new Conflict());
    expect(error).toBeInstanceOf(Conflict);
  });

  it('a twin that is done comes before all', async () => {
    const stale = () => new Conflict();
    const error = await failing(refusal('not_found', 'a'), stale, () => new AlreadyDone());
    expect(error).toBeInstanceOf(AlreadyDone);
  });
});

describe('a hundred items', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => put(`${at}`));

  it('are one transaction', async () => {
    const { table, dynamodb } = mockTable();
    await transact(table, many(100));
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });

  it('and one more are refused before anything is sent', async () => {
    const { table, dynamodb } = mockTable();
    await expect(transact(table, many(101))).rejects.toThrow('101');
    expect(dynamodb).not.toHaveReceivedAnyCommand();
  });
});

describe('a decision on what has changed meanwhile', () => {
  it('is made again until it holds', async () => {
    const { table } = mockTable();
    let made = 0;
    const decide = async () => {
      made += 1;
      if (made < 5) throw new Conflict();
      return made;
    };
    expect(await retryOnConflict(table, decide)).toBe(5);
  });

  it('is given up as unavailable when it never holds', async () => {
    const { table } = mockTable();
    const never = retryOnConflict(table, () => Promise.reject(new Conflict()));
    expect((await errorOf(never))?.code).toBe('unavailable');
  });

  it('is not made again after a refusal', async () => {
    const { table, pauses } = mockTable();
    const refused = retryOnConflict(table, () => Promise.reject(refusal('not_found', 'id')()));
    expect((await errorOf(refused))?.code).toBe('not_found');
    expect(pauses).toEqual([]);
  });
});
