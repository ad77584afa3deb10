import { Agent, request } from 'node:http';
import * as models from '@aws-sdk/client-dynamodb';
import type { CallLimits } from '../../../lib/aws/call-limits.ts';
import { unsignedHeaders } from '../../../lib/aws/client-config.ts';

/** A client of the JSON protocol of DynamoDB and its streams, for an engine on this machine. */
export type EngineClient = { host: string; port: string; agent: Agent };

type Response = { status: number; text: string };

/**
 * Creates a client. It sends a request once. Its timeout is that of all tries of the SDK together: an engine on the same
 * machine does not answer a repeated request earlier.
 *
 * @param limits how long a call may take
 */
export function createEngineClient(endpoint: string, limits: CallLimits): EngineClient {
  const { hostname: host, port } = new URL(endpoint);
  return { host, port, agent: new Agent({ keepAlive: true, maxSockets: 50, timeout: limits.tries * limits.tryMs }) };
}

/** Closes the connections of a client. */
export function closeEngineClient({ agent }: EngineClient): void {
  agent.destroy();
}

/**
 * Calls an operation, such as `DynamoDB_20120810.GetItem`, and returns its output as JSON.
 *
 * @throws the SDK's exception for an error response; `TimeoutError`; `SyntaxError` if the response is not JSON; the error
 *   of Node.js if the connection fails
 */
export async function callEngine(client: EngineClient, target: string, input: object): Promise<object> {
  return read(await post(client, target, JSON.stringify(input)));
}

function post(server: EngineClient, target: string, body: string): Promise<Response> {
  const headers = {
    ...unsignedHeaders,
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': target,
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
 * @throws the SDK's exception for an error; `SyntaxError` if it is not JSON, with the property `$response` that the SDK
 *   sets and `isHopeless` looks for
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

/** The fields of every error response; `__type` is a namespace, `#` and the name. */
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
