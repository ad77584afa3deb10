import { Agent, type RequestOptions, request } from 'node:http';
import * as models from '@aws-sdk/client-dynamodb';
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
import { callLimitsOf } from '../../lib/contract/call-limits.ts';
import { unsignedHeaders } from '../../lib/contract/deployment.ts';
import { openTable, type Table } from '../../lib/table/client.ts';
import { noteLostAnswer } from '../../lib/table/lost-answers.ts';

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
const writes: Fields = { '*': { '*': { '*': write } } };

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
    BatchWriteCommand,
    { name: 'BatchWriteItem', request: { RequestItems: writes }, response: { UnprocessedItems: writes } },
  ],
  [
    TransactWriteCommand,
    { name: 'TransactWriteItems', request: { TransactItems: { '*': { '*': write } } }, response: {} },
  ],
]);

type Command = { input: { ClientRequestToken?: string } };
type Response = { status: number; text: string };

/**
 * Opens the table in the bundled engine by a client of its own: a call takes a third of the processor time that the
 * SDK's middleware takes. Commands, outputs and errors are the SDK's. Binary values are not supported; no item has any.
 *
 * A request is sent once, and waits as long as all tries of the SDK together: sending it again to an engine on the same
 * machine makes no answer come earlier. So a transaction needs no `ClientRequestToken`, which is left out because the
 * engine keeps each for 10 minutes and goes through all of them at every transaction.
 *
 * @param limits how long a call may take
 */
export function openEngineTable(name: string, endpoint: string, limits = callLimitsOf('dynamodb', endpoint)): Table {
  const table = openTable(name, endpoint);
  const { hostname: host, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true, maxSockets: 50, timeout: limits.tries * limits.tryMs });
  const send = async (command: Command) => {
    const operation = operations.get(command.constructor);
    if (!operation) throw new Error(`The client of the engine does not know ${command.constructor.name}.`);
    const { ClientRequestToken: _, ...sent } = command.input;
    const body = JSON.stringify(converted(sent, operation.request, toWire));
    try {
      const answer = read(await post({ host, port, agent }, operation.name, body));
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

function post(server: RequestOptions, operation: string, body: string): Promise<Response> {
  const headers = {
    ...unsignedHeaders,
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
  };
  return new Promise((resolve, reject) => {
    const sent = request({ ...server, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode as number, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.on('timeout', () => {
      reject(Object.assign(new Error('The table engine did not answer in time.'), { name: 'TimeoutError' }));
      sent.destroy();
    });
    sent.end(body);
  });
}

/**
 * Reads a response.
 *
 * @throws the SDK's exception for an error; `SyntaxError` where it is not JSON, with the mark of the SDK's that
 *   `isHopeless` knows it by
 */
function read(response: Response): object {
  let answer: object;
  try {
    answer = JSON.parse(response.text);
  } catch (error) {
    throw Object.assign(error as Error, { $response: response });
  }
  if (response.status !== 200) throw exceptionOf(answer, response.status);
  return answer;
}

/** The fields that every error response has; `__type` is a namespace, `#` and the name. */
type ErrorAnswer = { __type?: string; message?: string; Message?: string };

type Exception = new (options: { message: string; $metadata: object }) => models.DynamoDBServiceException;

/** Returns the SDK's exception for an error response, with the fields of its class. */
function exceptionOf({ __type = 'Unknown', message, Message, ...fields }: ErrorAnswer, status: number): Error {
  const name = __type.slice(__type.indexOf('#') + 1);
  const options = { message: message ?? Message ?? 'UnknownError', $metadata: { httpStatusCode: status } };
  const known = (models as Record<string, unknown>)[name] as Exception | undefined;
  const error =
    known?.prototype instanceof models.DynamoDBServiceException
      ? new known(options)
      : new models.DynamoDBServiceException({ ...options, name, $fault: status < 500 ? 'client' : 'server' });
  return Object.assign(error, fields);
}
