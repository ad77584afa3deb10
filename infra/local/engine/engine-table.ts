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
import { noteLostAnswer } from '../../../lib/table/lost-answers.ts';
import { openEngineClient } from './engine-client.ts';

/** Where a request or a response has items or parts of items. `*` stands for every name and every index. */
type Fields = 'item' | { [name: string]: Fields };

/** An operation of DynamoDB, and where its request and its response have items. */
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

/** The writes of a batch as a transaction. */
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
 * Opens the table in the bundled engine by a client of its own: a call takes a third of the processor time that the
 * SDK's middleware takes. Commands, outputs and errors are the SDK's. Binary values are not supported; no item has any.
 *
 * A transaction needs no `ClientRequestToken`, since a request is sent once: it is left out because the engine keeps each
 * for 10 minutes and goes through all of them at every transaction. A batch of writes is sent as a transaction: the engine
 * would commit, and so wait for the disk, after each write of a batch.
 *
 * @param limits how long a call may take
 */
export function openEngineTable(name: string, endpoint: string, limits = callLimitsOf('dynamodb', endpoint)): Table {
  const table = openTable(name, endpoint);
  const client = openEngineClient(endpoint, limits);
  const send = async (command: Command): Promise<object> => {
    if (command instanceof BatchWriteCommand) {
      await send(transactionOf(command));
      return { $metadata: {}, UnprocessedItems: {} };
    }
    const operation = operations.get(command.constructor);
    if (!operation) throw new Error(`The client of the engine does not know ${command.constructor.name}.`);
    const { ClientRequestToken: _, ...sent } = command.input;
    try {
      const input = converted(sent, operation.request, toWire) as object;
      const answer = await client.call(`DynamoDB_20120810.${operation.name}`, input);
      return { $metadata: {}, ...(converted(answer, operation.response, unmarshall) as object) };
    } catch (error) {
      noteLostAnswer(error);
      throw error;
    }
  };
  // The SDK's paginators take instances of its client only.
  table.client.send = send as typeof table.client.send;
  return table;
}

const toWire = (item: object) => marshall(item, { removeUndefinedValues: true });

/** Converts the items of a request or of a response. */
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
