import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
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
import type { Table } from '../lib/table/access/client.ts';

/** The places of items, or parts of items, in a request or a response. `*` stands for every name and every index. */
type Fields = 'item' | NamedFields;
type NamedFields = { [name: string]: Fields };

const write: Fields = { Item: 'item', Key: 'item', ExpressionAttributeValues: 'item' };
const keys: Fields = { '*': { Keys: { '*': 'item' } } };
const inRequests: NamedFields = {
  ...write,
  ExclusiveStartKey: 'item',
  TransactItems: { '*': { '*': write } },
};
const inResponses: Fields = {
  Item: 'item',
  Attributes: 'item',
  Items: { '*': 'item' },
  LastEvaluatedKey: 'item',
  Responses: { '*': { '*': 'item' } },
  UnprocessedKeys: keys,
};
const batchWrites: Fields = { '*': { '*': { PutRequest: { Item: 'item' }, DeleteRequest: { Key: 'item' } } } };

/** The commands of the document client by the names of their operations, and the places of items in `RequestItems`. */
const commands: Record<string, { command: new (input: never) => object; items?: Fields }> = {
  GetItem: { command: GetCommand },
  PutItem: { command: PutCommand },
  UpdateItem: { command: UpdateCommand },
  DeleteItem: { command: DeleteCommand },
  Query: { command: QueryCommand },
  Scan: { command: ScanCommand },
  BatchGetItem: { command: BatchGetCommand, items: keys },
  BatchWriteItem: { command: BatchWriteCommand, items: batchWrites },
  TransactWriteItems: { command: TransactWriteCommand },
};

/** A request to a table: its operation, such as `PutItem`, and its body. */
export type TableRequest = { action: string; json: string };

/** The response to a request: its status and its body, an object of JSON. */
export type TableAnswer = { status: number; body: object };

/** Returns a function that answers requests in the JSON protocol of DynamoDB from a table. */
export function createTableProtocol({ client }: Table): (request: TableRequest) => Promise<TableAnswer> {
  const send = createTransactions(client);
  return (request) => answerTo(send, request);
}

/** Returns a function that sends a transaction once, however often the SDK sends its token: as DynamoDB does. */
function createTransactions(client: Table['client']) {
  const outcomes = new Map<string, Promise<object>>();
  return (command: object): Promise<object> => {
    const send = () => client.send(command as never) as Promise<object>;
    const token = command instanceof TransactWriteCommand ? command.input.ClientRequestToken : undefined;
    if (token === undefined) return send();
    const outcome = outcomes.get(token) ?? send();
    outcomes.set(token, outcome);
    return outcome;
  };
}

async function answerTo(
  send: ReturnType<typeof createTransactions>,
  { action, json }: TableRequest,
): Promise<TableAnswer> {
  const known = commands[action];
  if (!known) throw new Error(`The table server does not know the operation ${action}.`);
  const places = known.items ? { ...(inRequests as object), RequestItems: known.items } : inRequests;
  const input = converted(JSON.parse(json), places, (item) => unmarshall(item));
  try {
    const { $metadata, ...output } = (await send(new known.command(input as never))) as { $metadata?: object };
    const toWire = (item: object) => marshall(item, { removeUndefinedValues: true });
    return { status: 200, body: converted(output, inResponses, toWire) as object };
  } catch (error) {
    if (!(error instanceof DynamoDBServiceException)) throw error;
    const { name, message, $metadata } = error;
    const { Item, CancellationReasons } = error as { Item?: object; CancellationReasons?: object };
    const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message, Item, CancellationReasons };
    return { status: $metadata.httpStatusCode ?? 500, body };
  }
}

/** Returns a request or a response with its items converted. */
function converted(value: unknown, fields: Fields, convert: (item: never) => unknown): unknown {
  if (value === undefined || value === null) return value;
  if (fields === 'item') return convert(value as never);
  if (Array.isArray(value)) return value.map((one) => converted(one, fields['*'] as Fields, convert));
  const entries = Object.entries(value as object).map(([name, one]) => {
    const inner = fields[name] ?? fields['*'];
    return [name, inner ? converted(one, inner, convert) : one];
  });
  return Object.fromEntries(entries);
}
