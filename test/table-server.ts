import { buffer } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import type { LocalTable } from '../infra/local/table/local-table.ts';
import type { Table } from '../lib/table/access/client.ts';
import { operationOf, startLoopbackServer } from './loopback.ts';
import { createTableProtocol, type TableAnswer, type TableRequest } from './table-protocol.ts';

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
  const answerTo = createTableProtocol(table);
  const { url: endpoint, close } = await startLoopbackServer(async (received, answer) => {
    const sent = { action: operationOf(received), json: (await buffer(received)).toString('utf8') };
    await server.before(sent);
    const { status, body } = streamAnswer(sent, changes) ?? (await answerTo(sent));
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
): TableAnswer | undefined {
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
