import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { ApiError, type ErrorCode } from '../../lib/contract/errors.ts';
import { AlreadyDone, Conflict, retryOnConflict, transact } from '../../lib/table/transact.ts';
import type { OnConditionFailed, Write } from '../../lib/table/write.ts';
import { cancelled, conflict, dynamodbError, inProgress } from './fixtures/dynamodb-errors.ts';
import { type DynamoDBMock, failFirst, mockTable, tokensOf, transactionsOf } from './fixtures/mock-table.ts';
import { errorOf } from './tasks/test-table.ts';

const put = (sk: string, onConditionFailed?: OnConditionFailed): Write => ({
  Put: { Item: { pk: 'p', sk }, ConditionExpression: 'attribute_not_exists(pk)' },
  ...(onConditionFailed && { onConditionFailed }),
});
const two = [put('a'), put('b')];

/** The items of each transaction that was sent. */
const itemsOf = (dynamodb: DynamoDBMock) => transactionsOf(dynamodb).map(({ TransactItems }) => TransactItems);
const apiError = (code: ErrorCode, path: string) => () =>
  new ApiError(code, `${code} at ${path}`, [{ path, code: 'invalid_value', message: path }]);

it('a transaction with more items than DynamoDB takes throws, and is not sent', async () => {
  const { table, dynamodb } = mockTable();
  const writes = Array.from({ length: 101 }, (_, nth) => put(String(nth)));
  await expect(transact(table, writes)).rejects.toThrow('at most 100 items, not 101');
  expect(dynamodb).not.toHaveReceivedCommand(TransactWriteCommand);
});

describe('a cancelled transaction', () => {
  const transient = [
    ['with a conflict', cancelled('TransactionConflict', 'None')],
    ['with conflicts over all items', cancelled('TransactionConflict', 'TransactionConflict')],
    ['with throttling', cancelled('ThrottlingError', 'None')],
    ['with too much throughput', cancelled('None', 'ProvisionedThroughputExceeded')],
    ['at the request limit', cancelled('RequestLimitExceeded', 'TransactionConflict')],
    ['that is still in progress', inProgress()],
    ['with throttling of the whole request', dynamodbError('ThrottlingException')],
    ['with too much throughput of the whole request', dynamodbError('ProvisionedThroughputExceededException')],
  ] as const;

  it.each(transient)('%s is sent again unchanged, and throws `unavailable` after eight tries', async (_, error) => {
    const { table, dynamodb } = mockTable();
    failFirst(dynamodb, error, error, error);
    await transact(table, two);
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 4);
    expect(new Set(tokensOf(dynamodb)).size).toBe(1);
    for (const items of itemsOf(dynamodb)) expect(items).toEqual(itemsOf(dynamodb)[0]);
    const failing = mockTable();
    failing.dynamodb.rejects(error);
    const thrown = await errorOf(transact(failing.table, two));
    expect(thrown).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
    expect(failing.dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 8);
    expect(failing.pauses).toHaveLength(7);
  });

  it('with a failed condition and conflicts throws the error of the condition at once', async () => {
    const found = { pk: 'p', sk: 'b', version: 3, tags: new Set(['x']) };
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(cancelled('TransactionConflict', { failed: found }));
    let received: unknown;
    const onConditionFailed: OnConditionFailed = (item) => {
      received = item;
      return new Conflict();
    };
    await expect(transact(table, [put('a'), put('b', onConditionFailed)])).rejects.toBeInstanceOf(Conflict);
    expect(received).toEqual(found);
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });

  it.each([
    ['with an unknown reason', cancelled('ValidationError', 'TransactionConflict')],
    ['without reasons', cancelled()],
  ])('%s throws the error of DynamoDB at once', async (_, error) => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(error);
    await expect(transact(table, two)).rejects.toThrow('Cancelled.');
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
  });
});

it('each transaction has its own token, and requests the stored item for each failed condition', async () => {
  const { table, dynamodb } = mockTable();
  await transact(table, two);
  const common = { TableName: table.name, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
  expect(itemsOf(dynamodb)).toEqual([two.map((write) => ({ Put: { ...('Put' in write && write.Put), ...common } }))]);
  await transact(table, two);
  expect(new Set(tokensOf(dynamodb)).size).toBe(2);
});

it('a transaction in conflict over a counter keeps its items and token while an earlier try may be in progress', async () => {
  const counter: Write = {
    Update: { Key: { pk: 'c', sk: '0' }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
    keyIn: (shard) => ({ pk: 'c', sk: `${shard}` }),
  };
  const { table, dynamodb } = mockTable();
  failFirst(dynamodb, inProgress(), ...Array(3).fill(cancelled('None', 'TransactionConflict')));
  await transact(table, [put('a'), counter]);
  expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 5);
  expect(new Set(tokensOf(dynamodb)).size).toBe(1);
  for (const items of itemsOf(dynamodb)) expect(items).toEqual(itemsOf(dynamodb)[0]);
});

describe('a single write', () => {
  it.each([
    ['in conflict with a transaction', conflict()],
    ['throttled', dynamodbError('ThrottlingException')],
    ['with too much throughput', dynamodbError('ProvisionedThroughputExceededException')],
    ['at the request limit', dynamodbError('RequestLimitExceeded')],
  ])('%s is sent again, and throws `unavailable` after eight tries', async (_, error) => {
    const succeeding = mockTable();
    failFirst(succeeding.dynamodb, ...Array(7).fill(error));
    await transact(succeeding.table, [put('a')]);
    expect(succeeding.dynamodb).toHaveReceivedCommandTimes(PutCommand, 8);
    const failing = mockTable();
    failing.dynamodb.rejects(error);
    expect((await errorOf(transact(failing.table, [put('a')])))?.code).toBe('unavailable');
    expect(failing.dynamodb).toHaveReceivedCommandTimes(PutCommand, 8);
    expect(failing.pauses).toHaveLength(7);
  });

  it('with another error throws it at once', async () => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(dynamodbError('ResourceNotFoundException'));
    await expect(transact(table, [put('a')])).rejects.toThrow('ResourceNotFoundException');
    expect(dynamodb).toHaveReceivedCommandTimes(PutCommand, 1);
  });
});

describe('several failed conditions', () => {
  const failing = async (...meanings: OnConditionFailed[]): Promise<Error> => {
    const { table, dynamodb } = mockTable();
    dynamodb.rejects(cancelled(...meanings.map((_, at) => ({ failed: { pk: 'p', sk: `${at}` } }))));
    const writes = meanings.map((onConditionFailed, at) => put(`${at}`, onConditionFailed));
    return transact(table, writes).then(
      () => new Error('It was written.'),
      (error: Error) => error,
    );
  };

  it('of the same error code throw one error with all details', async () => {
    const unknown = (path: string) => apiError('unknown_reference', path);
    const error = await failing(unknown('dependsOn.0'), unknown('dependsOn.2'), unknown('assignedAgent'));
    const details = error instanceof ApiError ? error.details.map(({ path }) => path) : error;
    expect(details).toEqual(['dependsOn.0', 'dependsOn.2', 'assignedAgent']);
  });

  it('throw the error of the first check: 404, 412, 422, 403, 409, 429', async () => {
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
      expect(await failing(...later.map((code) => apiError(code, code)))).toMatchObject({ code: inOrder[first] });
    }
  });

  it('throw a conflict before an API error, and `AlreadyDone` before all others', async () => {
    const meanings = [apiError('not_found', 'a'), () => new Conflict()];
    expect(await failing(...meanings)).toBeInstanceOf(Conflict);
    expect(await failing(...meanings, () => new AlreadyDone())).toBeInstanceOf(AlreadyDone);
  });
});

it('a transaction can have 100 items; with 101 it throws an error and sends nothing', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => put(`${at}`));
  const { table, dynamodb } = mockTable();
  await expect(transact(table, many(101))).rejects.toThrow('101');
  expect(dynamodb).not.toHaveReceivedAnyCommand();
  await transact(table, many(100));
  expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
});

describe('retryOnConflict', () => {
  it('calls the function again until there is no conflict', async () => {
    const { table } = mockTable();
    let calls = 0;
    const decide = async () => {
      calls += 1;
      if (calls < 5) throw new Conflict();
      return calls;
    };
    expect(await retryOnConflict(table, decide)).toBe(5);
  });

  it('throws `unavailable` when each call has a conflict', async () => {
    const { table } = mockTable();
    const never = retryOnConflict(table, () => Promise.reject(new Conflict()));
    expect((await errorOf(never))?.code).toBe('unavailable');
  });
});
