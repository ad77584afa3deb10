import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
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
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createEngineTable } from '../../../../infra/local/engine/engine-table.ts';
import { isHopeless } from '../../../../lib/queue/hopeless.ts';
import { openTable, type Table } from '../../../../lib/table/client.ts';
import { isOutage, mayBeProcessed } from '../../../../lib/table/lost-responses.ts';
import { transact } from '../../../../lib/table/transact.ts';
import { isThrottling, OutcomeUnknown } from '../../../../lib/table/unavailable.ts';
import { type EngineRequest, loseResponses, startEngineProxy } from '../../../engine-proxy.ts';
import { closedEndpoint, json } from '../../../model/bedrock-server.ts';
import { openService } from '../../../service.ts';

const services = [await openService(), await openService()] as const;
const [sdk, own] = [
  openTable(services[0].tableName, services[0].endpoint),
  createEngineTable(services[1].tableName, services[1].endpoint),
] as const;

const item = {
  pk: 'p',
  sk: 'full',
  text: 'ä🙂\u0000"',
  count: -7,
  price: 12.5,
  large: 9_007_199_254_740_991,
  on: true,
  nothing: null,
  absent: undefined,
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

/** Every command that stores send, in this order on one table. */
const operations: [string, (table: Table) => Promise<object>][] = [
  ['puts an item', ({ client, name: TableName }) => client.send(new PutCommand({ TableName, Item: item }))],
  ['gets an item', ({ client, name: TableName }) => client.send(new GetCommand({ TableName, Key: key('full') }))],
  [
    'gets an item that does not exist',
    ({ client, name: TableName }) => client.send(new GetCommand({ TableName, Key: key('none') })),
  ],
  [
    'updates an item and reads it',
    ({ client, name: TableName }) =>
      client.send(
        new UpdateCommand({
          TableName,
          Key: key('full'),
          UpdateExpression: 'ADD #count :one DELETE labels :b',
          ExpressionAttributeNames: { '#count': 'count' },
          ExpressionAttributeValues: { ':one': 1, ':b': new Set(['b']) },
          ReturnValues: 'ALL_NEW',
        }),
      ),
  ],
  [
    'writes a transaction of every kind',
    ({ client, name: TableName }) =>
      client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName, Item: { ...key('put'), n: 1 } } },
            { Delete: { TableName, Key: key('gone') } },
            { ConditionCheck: { TableName, Key: key('full'), ConditionExpression: 'attribute_exists(pk)' } },
            {
              Update: {
                TableName,
                Key: key('counter'),
                UpdateExpression: 'ADD n :two',
                ExpressionAttributeValues: { ':two': 2 },
              },
            },
          ],
          ClientRequestToken: 'token',
        }),
      ),
  ],
  [
    'writes and deletes a batch',
    ({ client, name }) =>
      client.send(
        new BatchWriteCommand({
          RequestItems: {
            [name]: [{ PutRequest: { Item: { ...key('batch'), n: 3 } } }, { DeleteRequest: { Key: key('gone') } }],
          },
        }),
      ),
  ],
  [
    'gets a batch',
    async ({ client, name }) => {
      const RequestItems = { [name]: { Keys: [key('put'), key('none'), key('full')], ConsistentRead: true } };
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetCommand({ RequestItems }));
      return { found: Responses?.[name]?.sort((a, b) => (a.sk < b.sk ? -1 : 1)), UnprocessedKeys };
    },
  ],
  [
    'queries a page and the one after it',
    async ({ client, name: TableName }) => {
      const first = await client.send(new QueryCommand({ TableName, ...range, Limit: 1 }));
      const ExclusiveStartKey = first.LastEvaluatedKey;
      return [first, await client.send(new QueryCommand({ TableName, ...range, ExclusiveStartKey }))];
    },
  ],
  [
    'scans page by page',
    ({ client, name: TableName }) => Array.fromAsync(paginateScan({ client, pageSize: 2 }, { TableName })),
  ],
  [
    'deletes an item and returns it',
    ({ client, name: TableName }) =>
      client.send(new DeleteCommand({ TableName, Key: key('full'), ReturnValues: 'ALL_OLD' })),
  ],
];

/** Returns the output of a call without the SDK's metadata. */
const answered = (output: object) =>
  JSON.parse(
    JSON.stringify(output, (name, value) =>
      name === '$metadata' ? undefined : value instanceof Set ? [...value] : value,
    ),
  );

describe('an operation of the client of the engine returns the same as the SDK:', () => {
  it.each(operations)('%s', async (_, act) => {
    expect(answered(await act(own))).toEqual(answered(await act(sdk)));
  });

  it('reads the values that were written', async () => {
    const { client, name: TableName } = own;
    await client.send(new PutCommand({ TableName, Item: item }));
    const { absent: _, ...written } = item;
    expect((await client.send(new GetCommand({ TableName, Key: key('full') }))).Item).toEqual(written);
  });
});

/** Returns all properties of an error by which the service classifies it. */
async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => expect.unreachable('The call succeeded.'),
    (raised) => raised,
  );
  const { name, message, code, $fault, $retryable, $metadata, Item, CancellationReasons } = error;
  return {
    type: error.constructor.name,
    name,
    message,
    code,
    $fault,
    $retryable,
    status: $metadata?.httpStatusCode,
    Item,
    CancellationReasons,
    isHopeless: isHopeless(error),
    isThrottling: isThrottling(error),
    isOutage: isOutage(error),
    mayBeProcessed: mayBeProcessed(error),
  };
}

describe('a rejected call throws the same error as the SDK:', () => {
  const put = (TableName: string) => ({ Put: { TableName, Item: key('taken'), ...taken } });

  const refused: [string, (table: Table) => Promise<unknown>, object][] = [
    [
      'a failed condition, with the existing item',
      ({ client, name }) => client.send(new PutCommand(put(name).Put)),
      { type: 'ConditionalCheckFailedException', Item: { pk: { S: 'p' }, sk: { S: 'taken' } } },
    ],
    [
      'a failed condition without an existing item',
      ({ client, name: TableName }) =>
        client.send(new DeleteCommand({ TableName, Key: key('none'), ConditionExpression: 'attribute_exists(pk)' })),
      { type: 'ConditionalCheckFailedException', Item: undefined },
    ],
    [
      'a cancelled transaction, with a reason for each write',
      ({ client, name }) =>
        client.send(
          new TransactWriteCommand({ TransactItems: [{ Put: { TableName: name, Item: key('free') } }, put(name)] }),
        ),
      {
        type: 'TransactionCanceledException',
        CancellationReasons: [
          expect.objectContaining({ Code: 'None' }),
          expect.objectContaining({ Code: 'ConditionalCheckFailed', Item: { pk: { S: 'p' }, sk: { S: 'taken' } } }),
        ],
      },
    ],
    [
      'an invalid item',
      ({ client, name: TableName }) => client.send(new PutCommand({ TableName, Item: { pk: 'p' } })),
      { name: 'ValidationException', isHopeless: true },
    ],
    [
      'a missing table',
      ({ client }) => client.send(new GetCommand({ TableName: 'missing', Key: key('taken') })),
      { type: 'ResourceNotFoundException', isHopeless: false },
    ],
  ];

  it.each(refused)('%s', async (_, act, expected) => {
    for (const { client, name: TableName } of [sdk, own])
      await client.send(new PutCommand({ TableName, Item: key('taken') }));
    const failure = await failureOf(act(own));
    expect(failure).toMatchObject({ ...expected, isOutage: false, mayBeProcessed: false });
    expect(failure).toEqual(await failureOf(act(sdk)));
  });
});

/** Answers a request of which the server has read the body. */
let answer: RequestListener = () => {};
const server = createServer((request, response) => {
  request.resume().once('end', () => answer(request, response));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const faulty = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const watched = await startEngineProxy(services[1].endpoint);
afterEach(() => watched.reset());
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const error = (name: string, status: number): RequestListener => {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: `The error is ${name}.` };
  return (_, response) => json(body, status)(response);
};

describe('a failed call throws the same error as the SDK:', () => {
  const faults: [string, RequestListener, object, number?][] = [
    ['there is no response', () => {}, { name: 'TimeoutError', isOutage: true }, 40],
    [
      'the response is incomplete',
      (_, response) => response.writeHead(200, { 'Content-Length': '100' }).write('{'),
      { name: 'TimeoutError', isOutage: true },
      40,
    ],
    ['the connection is closed', (_, response) => response.destroy(), { code: 'ECONNRESET', isOutage: true }],
    [
      'the response is not JSON',
      (_, response) => response.writeHead(200).end('{"Item": {"pk'),
      { name: 'SyntaxError', isHopeless: false },
    ],
    ['an internal error of the engine', error('InternalServerError', 500), { isOutage: true }],
    ['an error without its own class', error('Novel', 503), { name: 'Novel', isOutage: true }],
  ];

  it.each(faults)('%s', async (_, fault, expected, tryMs = 5_000) => {
    answer = fault;
    const limits = { tries: 1, tryMs };
    const put = new PutCommand({ TableName: 'table', Item: key('s') });
    const failure = await failureOf(createEngineTable('table', faulty, limits).client.send(put));
    const overSdk = await failureOf(openTable('table', faulty, limits).client.send(put));
    expect(failure).toMatchObject({ ...expected, mayBeProcessed: true });
    for (const mark of ['isHopeless', 'isThrottling', 'isOutage'] as const) expect(failure[mark]).toBe(overSdk[mark]);
  });

  it.each(['ThrottlingException', 'TransactionConflictException', 'ProvisionedThroughputExceededException'])(
    '%s, after which the write was certainly not carried out',
    async (name) => {
      answer = error(name, 400);
      const put = new PutCommand({ TableName: 'table', Item: key('s') });
      const once = { tries: 1, tryMs: 5_000 };
      const failure = await failureOf(createEngineTable('table', faulty, once).client.send(put));
      expect(failure).toMatchObject({ name, mayBeProcessed: false });
      expect(failure).toEqual(await failureOf(openTable('table', faulty, once).client.send(put)));
    },
  );

  it('no server listens, so that the write was not carried out', async () => {
    const endpoint = await closedEndpoint();
    const put = new PutCommand({ TableName: 'table', Item: key('s') });
    const failure = await failureOf(createEngineTable('table', endpoint).client.send(put));
    expect(failure).toMatchObject({ code: 'ECONNREFUSED', isOutage: true, mayBeProcessed: false });
  });
});

describe('the client of the engine', () => {
  const table = { ...createEngineTable(own.name, watched.endpoint), sleep: async () => {} };
  const put = (sk: string) => ({ Put: { Item: key(sk) } });

  it('sends a transaction without a client request token, because the engine would keep it', async () => {
    const asked: EngineRequest[] = [];
    watched.before = (one) => asked.push(one);
    await transact(table, [put('a'), put('b')]);
    expect(asked.map(({ action, json }) => [action, Object.keys(JSON.parse(json))])).toEqual([
      ['TransactWriteItems', ['TransactItems']],
    ]);
  });

  it('sends a write once, even if the response is lost', async () => {
    const lost = loseResponses(watched, { count: 2 });
    const add = (sk: string) => ({
      Update: { Key: key(sk), UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
    });
    await expect(transact(table, [add('once'), add('also')])).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(lost).toHaveLength(1);
    const { Item } = await own.client.send(new GetCommand({ TableName: own.name, Key: key('once') }));
    expect(Item?.n).toBe(1);
  });

  it('rejects commands that stores do not send', async () => {
    await expect(own.client.send(new CreateTableCommand({} as never) as never)).rejects.toThrow('CreateTableCommand');
  });
});
