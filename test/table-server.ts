import { buffer } from 'node:stream/consumers';
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
import { afterAll } from 'vitest';
import type { LocalTable } from '../infra/local/table/local-table.ts';
import type { Table } from '../lib/table/client.ts';
import { operationOf, startLoopbackServer } from './loopback.ts';

/** The places of items, or parts of items, in a request or a response. `*` stands for every name and every index. */
type Fields = 'item' | { [name: string]: Fields };

const write: Fields = { Item: 'item', Key: 'item', ExpressionAttributeValues: 'item' };
const keys: Fields = { '*': { Keys: { '*': 'item' } } };
const inRequests: Fields = {
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

/** A server of a table, on which tests delay requests and lose responses. */
export type TableServer = {
  endpoint: string;
  /** Called with each request. The request is carried out when the result resolves. */
  before: (request: TableRequest) => unknown;
  /** Called with each request after it was carried out. The response is sent when the result resolves, unless it is lost. */
  after: (request: TableRequest) => unknown;
  /** Carries out and answers all later requests at once. */
  reset: () => void;
};

/** The result of `after` that closes the connection without a response. */
const responseIsLost = Symbol('response is lost');

/**
 * Serves a table by the JSON protocol of DynamoDB until the test file ends, for tests of the SDK's own client: its tries,
 * timeouts and lost responses. With the changes of the table, a service can use it as the engine of `DYNAMODB_ENDPOINT`.
 */
export async function startTableServer(table: Table, changes?: LocalTable['changes']): Promise<TableServer> {
  const send = createTransactions(table.client);
  const { url: endpoint, close } = await startLoopbackServer(async (received, answer) => {
    const sent = { action: operationOf(received), json: (await buffer(received)).toString('utf8') };
    await server.before(sent);
    const { status, body } = streamAnswer(sent, changes) ?? (await answerTo(send, sent));
    if ((await server.after(sent)) === responseIsLost) return void answer.destroy();
    answer.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  afterAll(close);
  const reset = () => {
    server.before = () => {};
    server.after = () => {};
  };
  const server: TableServer = { endpoint, before: () => {}, after: () => {}, reset };
  return server;
}

/** Returns whether a request writes. */
export const writes = ({ action }: TableRequest): boolean =>
  /^(Put|Update|Delete)Item$|^TransactWrite|^BatchWrite/.test(action);

/**
 * Loses the responses to writes.
 *
 * @param nth the first of these writes, counted from 0
 * @param count the number of lost responses
 * @returns the writes whose responses were lost so far
 */
export function loseResponses(server: TableServer, { nth = 0, count = 1 } = {}): TableRequest[] {
  const lost: TableRequest[] = [];
  let made = 0;
  server.after = (request) => {
    if (!writes(request) || made++ < nth || lost.length === count) return undefined;
    lost.push(request);
    return responseIsLost;
  };
  return lost;
}

/** Returns whether a request writes an idempotency record. */
export const recordsKey = ({ action, json }: TableRequest): boolean =>
  /Put|Transact/.test(action) && json.includes('"fingerprint"');

/** Returns whether a request changes or deletes a task, an agent or a webhook, on condition of the version that was read. */
export const changesVersion = ({ action, json }: TableRequest): boolean =>
  /^(Put|Update|Delete)Item|^TransactWrite/.test(action) && json.includes('#version = :version');

/** Delays requests of a kind until `count` of them have arrived, then carries out all. Later requests are not delayed. */
export function runTogether(server: TableServer, count: number, ofKind: (request: TableRequest) => boolean): void {
  let missing = count;
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  server.before = async (request) => {
    if (missing === 0 || !ofKind(request)) return;
    missing -= 1;
    if (missing === 0) resolve();
    await complete;
  };
}

/** Returns the answer to a request for the table that exists, or for its stream, which has one shard. */
function streamAnswer(
  { action, json }: TableRequest,
  changes: LocalTable['changes'] | undefined,
): { status: number; body: object } | undefined {
  const input = JSON.parse(json) as Record<string, string | undefined>;
  const answer = (body: object) => ({ status: 200, body });
  switch (action) {
    case 'CreateTable':
      return { status: 400, body: { __type: 'com.amazonaws.dynamodb.v20120810#ResourceInUseException' } };
    case 'ListStreams':
      return answer({ Streams: [{ StreamArn: 'stream' }] });
    case 'DescribeStream':
      return answer({ StreamDescription: { Shards: [{ ShardId: 'shard' }] } });
    case 'GetShardIterator':
      return answer({ ShardIterator: input.SequenceNumber ?? '0' });
    case 'GetRecords': {
      const Records = changes?.after(input.ShardIterator, 1_000) ?? [];
      return answer({ Records, NextShardIterator: Records.at(-1)?.dynamodb?.SequenceNumber ?? input.ShardIterator });
    }
  }
  return undefined;
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
): Promise<{ status: number; body: object }> {
  const known = commands[action];
  if (!known) throw new Error(`The table server does not know the operation ${action}.`);
  const places = known.items ? { ...(inRequests as object), RequestItems: known.items } : inRequests;
  const input = converted(JSON.parse(json), places, (item) => unmarshall(item));
  try {
    const { $metadata: _, ...output } = (await send(new known.command(input as never))) as { $metadata?: object };
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
