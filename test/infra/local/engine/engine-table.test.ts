import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  paginateScan,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { createEngineTable } from '../../../../infra/local/engine/engine-table.ts';
import { isHopeless } from '../../../../lib/queue/hopeless.ts';
import { openTable, type Table } from '../../../../lib/table/client.ts';
import { isOutage, mayBeProcessed } from '../../../../lib/table/lost-responses.ts';
import { transact } from '../../../../lib/table/transact.ts';
import { isThrottling, OutcomeUnknown } from '../../../../lib/table/unavailable.ts';
import { type EngineRequest, loseResponses, startEngineProxy } from '../../../engine-proxy.ts';
import { closedEndpoint, json, startBedrock } from '../../../model/bedrock-server.ts';
import { openService } from '../../../service.ts';

const services = [await openService(), await openService()] as const;
const [sdk, own] = [
  openTable(services[0].tableName, services[0].endpoint),
  createEngineTable(services[1].tableName, services[1].endpoint),
] as const;

const item = {
  ...{ pk: 'p', sk: 'full', text: 'ä🙂\u0000"', on: true, nothing: null, absent: undefined },
  ...{ count: -7, price: 12.5, large: 9_007_199_254_740_991 },
  list: [1, 'two', [{ three: 3 }]],
  empty: { list: [], map: {}, text: '' },
  labels: new Set(['a', 'b']),
  numbers: new Set([1, 2.5]),
};
const key = (sk: string) => ({ pk: 'p', sk });
const range = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': 'p' }, ConsistentRead: true };
const taken = {
  ConditionExpression: 'attribute_not_exists(pk)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const;

const added = { UpdateExpression: 'ADD n :two', ExpressionAttributeValues: { ':two': 2 } };
const changed = {
  UpdateExpression: 'ADD #count :one DELETE labels :b',
  ExpressionAttributeNames: { '#count': 'count' },
  ExpressionAttributeValues: { ':one': 1, ':b': new Set(['b']) },
};

/** Returns every command that stores send, in this order on one table. */
const commandsOf = (TableName: string) => [
  new PutCommand({ TableName, Item: item }),
  new GetCommand({ TableName, Key: key('full') }),
  new GetCommand({ TableName, Key: key('none') }),
  new UpdateCommand({ TableName, Key: key('full'), ...changed, ReturnValues: 'ALL_NEW' }),
  new TransactWriteCommand({
    TransactItems: [
      { Put: { TableName, Item: { ...key('put'), n: 1 } } },
      { Delete: { TableName, Key: key('gone') } },
      { ConditionCheck: { TableName, Key: key('full'), ConditionExpression: 'attribute_exists(pk)' } },
      { Update: { TableName, Key: key('counter'), ...added } },
    ],
    ClientRequestToken: 'token',
  }),
  new BatchWriteCommand({
    RequestItems: {
      [TableName]: [{ PutRequest: { Item: { ...key('batch'), n: 3 } } }, { DeleteRequest: { Key: key('gone') } }],
    },
  }),
  new BatchGetCommand({
    RequestItems: { [TableName]: { Keys: [key('put'), key('none'), key('full')], ConsistentRead: true } },
  }),
  new QueryCommand({ TableName, ...range, Limit: 1 }),
  new QueryCommand({ TableName, ...range, ExclusiveStartKey: key('batch') }),
  new DeleteCommand({ TableName, Key: key('full'), ReturnValues: 'ALL_OLD' }),
];

const answered = (output: object, { name }: Table) =>
  JSON.parse(
    JSON.stringify(output, (field, value) =>
      field === '$metadata' ? undefined : value instanceof Set ? { set: [...value] } : value,
    ).replaceAll(name, 'table'),
  );

describe('an operation of the client of the engine returns the same as the SDK:', () => {
  const names = commandsOf(own.name).map((command, at) => [command.constructor.name, at] as const);
  it.each(names)('%s (%i)', async (_, at) => {
    const [output, overSdk] = await Promise.all(
      [own, sdk].map(async (table) =>
        answered(await table.client.send(commandsOf(table.name)[at] as GetCommand), table),
      ),
    );
    expect(output).toEqual(overSdk);
  });

  it('scans page by page', async () => {
    const scan = async (table: Table) => {
      const { client, name: TableName } = table;
      return answered(await Array.fromAsync(paginateScan({ client, pageSize: 2 }, { TableName })), table);
    };
    expect(await scan(own)).toEqual(await scan(sdk));
  });
});

/** Returns all properties of an error by which the service classifies it. */
async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => expect.unreachable('The call succeeded.'),
    (raised) => raised,
  );
  const fields = ['name', 'message', 'code', '$fault', '$retryable', 'Item', 'CancellationReasons'];
  const seen = Object.fromEntries(fields.map((field) => [field, error[field]]));
  const classes = { isHopeless, isThrottling, isOutage, mayBeProcessed };
  const classified = Object.fromEntries(Object.entries(classes).map(([of, is]) => [of, is(error)]));
  return { ...seen, status: error.$metadata?.httpStatusCode, type: error.constructor.name, ...classified };
}

it('a rejected call throws the same error as the SDK', async () => {
  const existing = { Item: { pk: { S: 'p' }, sk: { S: 'taken' } } };
  const failed = { type: 'ConditionalCheckFailedException' };
  const reasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', ...existing }];
  const rejectedBy = (TableName: string) => {
    const put = { TableName, Item: key('taken'), ...taken };
    const puts = [{ Put: { TableName, Item: key('free') } }, { Put: put }];
    const exists = { TableName, Key: key('none'), ConditionExpression: 'attribute_exists(pk)' };
    return [
      [new PutCommand(put), { ...failed, ...existing }],
      [new DeleteCommand(exists), { ...failed, Item: undefined }],
      [new TransactWriteCommand({ TransactItems: puts }), { CancellationReasons: reasons }],
      [new PutCommand({ TableName, Item: { pk: 'p' } }), { name: 'ValidationException', isHopeless: true }],
      [new GetCommand({ TableName: 'missing', Key: key('taken') }), { type: 'ResourceNotFoundException' }],
    ] as const;
  };
  for (const { client, name: TableName } of [sdk, own])
    await client.send(new PutCommand({ TableName, Item: key('taken') }));
  for (const [at, [command, expected]] of rejectedBy(own.name).entries()) {
    const failure = await failureOf(own.client.send(command as PutCommand));
    expect(failure).toMatchObject({ ...expected, isOutage: false, mayBeProcessed: false });
    expect(failure).toEqual(await failureOf(sdk.client.send(rejectedBy(sdk.name)[at]?.[0] as PutCommand)));
  }
});

const faulty = await startBedrock();
const watched = await startEngineProxy(services[1].endpoint);
afterEach(() => watched.reset());

const error = (name: string, status: number) =>
  json({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: `The error is ${name}.` }, status);

describe('a failed call throws the same error as the SDK:', () => {
  const put = new PutCommand({ TableName: 'table', Item: key('s') });
  /** Returns the error of each client for a call that is tried once. */
  const failuresOf = (tryMs: number) =>
    Promise.all(
      [createEngineTable, openTable].map((open) =>
        failureOf(open('table', faulty.endpoint, { tries: 1, tryMs }).client.send(put)),
      ),
    );

  const outage = { isOutage: true };
  const timeout = { name: 'TimeoutError', ...outage };
  it.each<[string, typeof faulty.answer, object, number?]>([
    ['there is no response', () => {}, timeout, 40],
    ['the response ends early', (to) => to.writeHead(200, { 'Content-Length': '100' }).write('{'), timeout, 40],
    ['the connection is closed', (to) => to.destroy(), { code: 'ECONNRESET', ...outage }],
    ['the response is not JSON', (to) => to.writeHead(200).end('{"Item"'), { name: 'SyntaxError', isHopeless: false }],
    ['an internal error of the engine', error('InternalServerError', 500), outage],
    ['an error without its own class', error('Novel', 503), { name: 'Novel', ...outage }],
  ])('%s', async (_, fault, expected, tryMs = 5_000) => {
    faulty.answer = fault;
    const [failure, overSdk] = await failuresOf(tryMs);
    expect(failure).toMatchObject({ ...expected, mayBeProcessed: true });
    const { isHopeless, isThrottling, isOutage } = overSdk as Record<string, unknown>;
    expect(failure).toMatchObject({ isHopeless, isThrottling, isOutage });
  });

  const rejections = ['ThrottlingException', 'TransactionConflictException', 'ProvisionedThroughputExceededException'];
  it.each(rejections)('%s, after which the write was certainly not carried out', async (name) => {
    faulty.answer = error(name, 400);
    const [failure, overSdk] = await failuresOf(5_000);
    expect(failure).toMatchObject({ name, mayBeProcessed: false });
    expect(failure).toEqual(overSdk);
  });

  it('no server listens, so that the write was not carried out', async () => {
    const failure = await failureOf(createEngineTable('table', await closedEndpoint()).client.send(put));
    expect(failure).toMatchObject({ code: 'ECONNREFUSED', isOutage: true, mayBeProcessed: false });
  });
});

describe('the client of the engine', () => {
  const table = { ...createEngineTable(own.name, watched.endpoint), sleep: async () => {} };
  const add = (sk: string) => ({ Update: { Key: key(sk), ...added } });

  it('sends a transaction without a client request token, because the engine would keep it', async () => {
    const asked: EngineRequest[] = [];
    watched.before = (one) => asked.push(one);
    await transact(table, [add('a'), add('b')]);
    const sent = asked.map(({ action, json }) => [action, Object.keys(JSON.parse(json))]);
    expect(sent).toEqual([['TransactWriteItems', ['TransactItems']]]);
  });

  it('sends a write once, even if the response is lost', async () => {
    const lost = loseResponses(watched, { count: 2 });
    await expect(transact(table, [add('once'), add('also')])).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(lost).toHaveLength(1);
    const { Item } = await own.client.send(new GetCommand({ TableName: own.name, Key: key('once') }));
    expect(Item?.n).toBe(2);
  });

  it('rejects commands that stores do not send', async () => {
    await expect(own.client.send(new CreateTableCommand({} as never) as never)).rejects.toThrow('CreateTableCommand');
  });
});
