import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it, vi } from 'vitest';
import { ApiError, type ErrorCode } from '../../../lib/contract/errors.ts';
import { AlreadyDone, Conflict, retryOnConflict, transact } from '../../../lib/table/access/transact.ts';
import type { OnConditionFailed, Write } from '../../../lib/table/access/write.ts';
import { cancelled, conflict, dynamodbError, inProgress } from '../fixtures/dynamodb-errors.ts';
import { type DynamoDBMock, failFirst, mockTable, tokensOf, transactionsOf } from '../fixtures/mock-table.ts';
import { errorOf } from '../tasks/test-table.ts';

const put = (sk: string, onConditionFailed?: OnConditionFailed): Write => ({
  Put: { Item: { pk: 'p', sk }, ConditionExpression: 'attribute_not_exists(pk)' },
  ...(onConditionFailed && { onConditionFailed }),
});
const two = [put('a'), put('b')];

/** The items of each transaction that was sent. */
const itemsOf = (dynamodb: DynamoDBMock) => transactionsOf(dynamodb).map(({ TransactItems }) => TransactItems);
const apiError = (code: ErrorCode, path: string) => () =>
  new ApiError(code, `${code} at ${path}`, [{ path, code: 'invalid_value', message: path }]);

/** The inputs of all requests, each once. */
const inputsOf = (dynamodb: DynamoDBMock) =>
  new Set(dynamodb.calls().map(({ args: [{ input }] }) => JSON.stringify(input)));

it.each<[string, Write[], Error]>([
  ['transaction with a conflict', two, cancelled('TransactionConflict', 'None')],
  ['transaction with conflicts over all items', two, cancelled('TransactionConflict', 'TransactionConflict')],
  ['transaction with throttling', two, cancelled('ThrottlingError', 'None')],
  ['transaction with too much throughput', two, cancelled('None', 'ProvisionedThroughputExceeded')],
  ['transaction at the request limit', two, cancelled('RequestLimitExceeded', 'TransactionConflict')],
  ['transaction that is still in progress', two, inProgress()],
  ['throttled transaction', two, dynamodbError('ThrottlingException')],
  ['whole transaction with too much throughput', two, dynamodbError('ProvisionedThroughputExceededException')],
  ['single write in conflict with a transaction', [put('a')], conflict()],
  ['throttled single write', [put('a')], dynamodbError('ThrottlingException')],
  ['single write with too much throughput', [put('a')], dynamodbError('ProvisionedThroughputExceededException')],
  ['single write at the request limit', [put('a')], dynamodbError('RequestLimitExceeded')],
])('a %s is sent again unchanged, and throws `unavailable` after eight tries', async (_, writes, error) => {
  const { table, dynamodb } = mockTable();
  failFirst(dynamodb, ...Array(7).fill(error));
  await transact(table, writes);
  expect([dynamodb.calls().length, inputsOf(dynamodb).size]).toEqual([8, 1]);
  const failing = mockTable();
  failing.dynamodb.rejects(error);
  const thrown = await errorOf(transact(failing.table, writes));
  expect(thrown).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  expect([failing.dynamodb.calls().length, failing.pauses.length]).toEqual([8, 7]);
});

it('a transaction with a failed condition and conflicts throws the error of the condition at once', async () => {
  const found = { pk: 'p', sk: 'b', version: 3, tags: new Set(['x']) };
  const { table, dynamodb } = mockTable();
  dynamodb.rejects(cancelled('TransactionConflict', { failed: found }));
  const onConditionFailed = vi.fn<OnConditionFailed>(() => new Conflict());
  await expect(transact(table, [put('a'), put('b', onConditionFailed)])).rejects.toBeInstanceOf(Conflict);
  expect(onConditionFailed).toHaveBeenCalledExactlyOnceWith(found);
  expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
});

it.each<[string, Write[], Error]>([
  ['transaction with an unknown reason', two, cancelled('ValidationError', 'TransactionConflict')],
  ['transaction without reasons', two, cancelled()],
  ['single write with another error', [put('a')], dynamodbError('ResourceNotFoundException')],
])('a %s throws the error of DynamoDB at once', async (_, writes, error) => {
  const { table, dynamodb } = mockTable();
  dynamodb.rejects(error);
  await expect(transact(table, writes)).rejects.toThrow(error.message);
  expect(dynamodb.calls()).toHaveLength(1);
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

const failing = async (...meanings: OnConditionFailed[]): Promise<Error> => {
  const { table, dynamodb } = mockTable();
  dynamodb.rejects(cancelled(...meanings.map((_, at) => ({ failed: { pk: 'p', sk: `${at}` } }))));
  const writes = meanings.map((onConditionFailed, at) => put(`${at}`, onConditionFailed));
  return transact(table, writes).catch((error) => error) as Promise<Error>;
};

it('several failed conditions of the same error code throw one error with all details', async () => {
  const unknown = (path: string) => apiError('unknown_reference', path);
  const error = await failing(unknown('dependsOn.0'), unknown('dependsOn.2'), unknown('assignedAgent'));
  const details = error instanceof ApiError ? error.details.map(({ path }) => path) : error;
  expect(details).toEqual(['dependsOn.0', 'dependsOn.2', 'assignedAgent']);
});

it('several failed conditions throw the error of the first check: 404, 412, 422, 403, 409, 429', async () => {
  const inOrder: ErrorCode[] = [
    ...(['not_found', 'precondition_failed', 'unknown_reference'] as const),
    ...(['system_agent', 'limit_reached', 'rate_limited'] as const),
  ];
  for (let first = 0; first < inOrder.length - 1; first++) {
    const later = inOrder.slice(first).toReversed();
    expect(await failing(...later.map((code) => apiError(code, code)))).toMatchObject({ code: inOrder[first] });
  }
});

it('several failed conditions throw a conflict before an API error, and `AlreadyDone` before all others', async () => {
  const meanings = [apiError('not_found', 'a'), () => new Conflict()];
  expect(await failing(...meanings)).toBeInstanceOf(Conflict);
  expect(await failing(...meanings, () => new AlreadyDone())).toBeInstanceOf(AlreadyDone);
});

it('a transaction can have 100 items; with 101 it throws an error and sends nothing', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => put(`${at}`));
  const { table, dynamodb } = mockTable();
  await expect(transact(table, many(101))).rejects.toThrow('at most 100 items, not 101');
  expect(dynamodb).not.toHaveReceivedAnyCommand();
  await transact(table, many(100));
  expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 1);
});

it('retryOnConflict calls a function again until there is no conflict', async () => {
  let calls = 0;
  const decide = async () => {
    calls += 1;
    if (calls < 5) throw new Conflict();
    return calls;
  };
  expect(await retryOnConflict(mockTable().table, decide)).toBe(5);
});
