import { Agent, type RequestOptions, request } from 'node:http';
import * as models from '@aws-sdk/client-dynamodb';
import type { CallLimits } from '../../../lib/aws/call-limits.ts';
import { unsignedHeaders } from '../../../lib/aws/client-config.ts';

/** A client of the JSON protocol of DynamoDB and its streams, for engines on this machine. */
export type EngineClient = {
  /**
   * Calls an operation, such as `DynamoDB_20120810.GetItem`, and returns its output as JSON.
   *
   * @throws the SDK's exception for an error response; `TimeoutError`; `SyntaxError` for what is not JSON; what Node.js says
   *   of the connection
   */
  call: (target: string, input: object) => Promise<object>;
  close: () => void;
};

type Response = { status: number; text: string };

/**
 * Opens a client. A request is sent once, and waits as long as all tries of the SDK together: sending it again to an engine
 * on the same machine makes no answer come earlier.
 *
 * @param limits how long a call may take
 */
export function openEngineClient(endpoint: string, limits: CallLimits): EngineClient {
  const { hostname: host, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true, maxSockets: 50, timeout: limits.tries * limits.tryMs });
  return {
    call: async (target, input) => read(await post({ host, port, agent }, target, JSON.stringify(input))),
    close: () => agent.destroy(),
  };
}

function post(server: RequestOptions, target: string, body: string): Promise<Response> {
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
