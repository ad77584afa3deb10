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
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { callLimitsOf } from '../../../lib/aws/call-limits.ts';
import { openTable, type Table } from '../../../lib/table/client.ts';
import { noteLostResponse } from '../../../lib/table/lost-responses.ts';
import { callEngine, createEngineClient } from './engine-client.ts';

/** The places of items, or parts of items, in a request or a response. `*` stands for every name and every index. */
type Fields = 'item' | { [name: string]: Fields };

/** An operation of DynamoDB, and the places of items in its request and its response. */
type Operation = { name: string; request: Fields; response: Fields };

const write: Fields = { Item: 'item', Key: 'item', ExpressionAttributeValues: 'item' };
const single = { request: write, response: { Attributes: 'item' } } as const;
const page = {
  request: { ExpressionAttributeValues: 'item', ExclusiveStartKey: 'item' },
  response: { Items: { '*': 'item' }, LastEvaluatedKey: 'item' },
} as const;
const keys: Fields = { '*': { Keys: { '*': 'item' } } };

/** The commands that stores send. */
const operations = new Map<unknown, Operation>([
  [GetCommand, { name: 'GetItem', request: { Key: 'item' }, response: { Item: 'item' } }],
  [PutCommand, { name: 'PutItem', ...single }],
  [UpdateCommand, { name: 'UpdateItem', ...single }],
  [DeleteCommand, { name: 'DeleteItem', ...single }],
  [QueryCommand, { name: 'Query', ...page }],
  [ScanCommand, { name: 'Scan', ...page }],
  [
    BatchGetCommand,
    {
      name: 'BatchGetItem',
      request: { RequestItems: keys },
      response: { Responses: { '*': { '*': 'item' } }, UnprocessedKeys: keys },
    },
  ],
  [
    TransactWriteCommand,
    { name: 'TransactWriteItems', request: { TransactItems: { '*': { '*': write } } }, response: {} },
  ],
]);

type Command = { input: { ClientRequestToken?: string } };

/** Returns the writes of a batch as a transaction. */
function transactionOf({ input: { RequestItems = {} } }: BatchWriteCommand): TransactWriteCommand {
  return new TransactWriteCommand({
    TransactItems: Object.entries(RequestItems).flatMap(([TableName, requests]) =>
      requests.map(({ PutRequest, DeleteRequest }) =>
        PutRequest ? { Put: { TableName, Item: PutRequest.Item } } : { Delete: { TableName, Key: DeleteRequest?.Key } },
      ),
    ),
  });
}

/**
 * Creates the table of the bundled engine with a client that needs a third of the processor time of the SDK's middleware.
 * Commands, outputs and errors are the SDK's. Binary values are not supported; no item has any.
 *
 * The client omits the `ClientRequestToken` of transactions: it sends a request once, and the engine keeps each token for
 * 10 minutes and searches all of them at every transaction. It sends a batch of writes as a transaction: the engine
 * commits, and so waits for the disk, after each write of a batch.
 *
 * @param limits how long a call may take
 */
export function createEngineTable(name: string, endpoint: string, limits = callLimitsOf('dynamodb', endpoint)): Table {
  const table = openTable(name, endpoint);
  const client = createEngineClient(endpoint, limits);
  const send = async (command: Command): Promise<object> => {
    if (command instanceof BatchWriteCommand) {
      await send(transactionOf(command));
      return { $metadata: {}, UnprocessedItems: {} };
    }
    const operation = operations.get(command.constructor);
    if (!operation) throw new Error(`The client of the engine does not support ${command.constructor.name}.`);
    const { ClientRequestToken: _, ...sent } = command.input;
    try {
      const input = converted(sent, operation.request, toWire) as object;
      const output = await callEngine(client, `DynamoDB_20120810.${operation.name}`, input);
      return { $metadata: {}, ...(converted(output, operation.response, unmarshall) as object) };
    } catch (error) {
      noteLostResponse(error);
      throw error;
    }
  };
  // The SDK's paginators accept instances of its own client only, so the client stays and its `send` is replaced.
  table.client.send = send as typeof table.client.send;
  return table;
}

const toWire = (item: object) => marshall(item, { removeUndefinedValues: true });

/** Returns a request or a response with its items converted. */
function converted(value: unknown, fields: Fields, convert: (item: never) => unknown): unknown {
  if (value === undefined) return undefined;
  if (fields === 'item') return convert(value as never);
  if (Array.isArray(value)) return value.map((one) => converted(one, fields['*'] as Fields, convert));
  const entries = Object.entries(value as object).map(([name, one]) => {
    const inner = fields[name] ?? fields['*'];
    return [name, inner ? converted(one, inner, convert) : one];
  });
  return Object.fromEntries(entries);
}
