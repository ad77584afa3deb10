import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { contextOf } from '../infra/local/functions.ts';
import { createTable } from '../infra/local/other-engine/create-table.ts';
import { createStreamChanges, type OtherStream } from '../infra/local/other-engine/stream-changes.ts';
import type { Changes } from '../infra/local/table/changes/changes.ts';
import { openLocalTable } from '../infra/local/table/local-table.ts';
import { type Context, createContext, setProcessContext } from '../lib/context/context.ts';
import { type Scope, scopes, templateOf } from '../lib/contract/endpoint.ts';
import type { Organization } from '../lib/contract/organization.ts';
import type { ApiEvent, ApiResult } from '../lib/http/api-event.ts';
import { issueToken } from '../lib/http/issue-token.ts';
import { published } from '../lib/names/consumers.ts';
import { environment } from '../lib/names/environment.ts';
import { openTable, type Table } from '../lib/table/access/client.ts';
import { dynamodbLocal } from './dynamodb-local/endpoint.ts';
import { atEndOfFile } from './end-of-file.ts';
import { createTemporaryFolder } from './temporary-files.ts';

/** A clock that stands still until it is moved. */
export type Clock = { (): number; now: number };

/** A clock at a moment of its own, in milliseconds since 1970. */
export function clockAt(now: number): Clock {
  const clock = () => clock.now;
  clock.now = now;
  return clock;
}

/** The service over a table of its own in memory, without a gateway or a process of its own. */
export type Service = { app: Context; table: Table; changes: Changes; tableName: string };

/** The kinds of items in the stream. After an upgrade, Lambda still sends changes of purges, which version 0.1.0 published. */
const streamKinds = [...published.kinds, 'purge'];

async function openNewTable(tableName: string, clock: () => number): Promise<Pick<Service, 'table' | 'changes'>> {
  const recorded = { tableName, kinds: streamKinds, onlyNew: published.onlyNew };
  if (!dynamodbLocal) return openLocalTable({ path: ':memory:', ...recorded, clock });
  await createTable(dynamodbLocal, tableName);
  const table = openTable(tableName, dynamodbLocal);
  // DynamoDB Local gets slower with each table that it has.
  atEndOfFile(() => table.client.send(new DeleteTableCommand({ TableName: tableName })));
  return { table, changes: changesOf({ endpoint: dynamodbLocal, ...recorded }) };
}

/** The changes of a table of another engine since its creation. Nobody is told of new ones, and none is forgotten. */
function changesOf(stream: Omit<OtherStream, 'positions'>): Changes {
  const positions = { read: () => ({}), write: () => {} };
  const numberOf = (record: DynamoDBRecord | undefined) => record?.dynamodb?.SequenceNumber;
  return {
    after: async (position, limit) => {
      const pages = createStreamChanges({ ...stream, positions });
      const records: DynamoDBRecord[] = [];
      for (let page: DynamoDBRecord[] | undefined; page?.length !== 0; records.push(...page))
        page = await pages.after(numberOf(records.at(-1)), 1_000);
      const from = records.findIndex((record) => numberOf(record) === position) + 1;
      return records.slice(from, from + limit);
    },
    forget: () => {},
    onRecorded: () => () => {},
  };
}

/** Opens a service on a new, empty table. `more` are further environment variables. */
export async function openService(clock: () => number = Date.now, more: Record<string, string> = {}): Promise<Service> {
  const tableName = `test-${randomUUID()}`;
  const { table, changes } = await openNewTable(tableName, clock);
  const app = createContext({
    environment: {
      [environment.tableName]: tableName,
      [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key'),
      ...more,
    },
    clock,
    table,
  });
  return { app, table, changes, tableName };
}

/**
 * Points the functions of this process at the table of a service. A test file calls it before its first call of a
 * function.
 *
 * @param more further environment variables. After the test file, all of them get their former values
 */
export function pointFunctionsAt(
  { tableName, table }: Pick<Service, 'tableName' | 'table'>,
  more: Record<string, string> = {},
): void {
  Object.assign(process.env, { [environment.tableName]: tableName, ...more });
  setProcessContext({ environment: process.env, clock: Date.now, table });
}

/** An organization of its own, provisioned, and a token of it. */
export async function newCaller(
  app: Context,
  allowed: readonly Scope[] = scopes,
): Promise<{ organization: Organization; token: string }> {
  const organization = `org-${randomUUID()}` as Organization;
  return { organization, token: await issueToken(app, { organization, scopes: allowed }) };
}

/** What a test sends to a handler. `body` is sent as JSON unless it is text already. */
export type Sent = {
  method?: string;
  path?: string;
  /** The path of the row; absent for a path without parameters. */
  route?: string;
  query?: string;
  params?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  token?: string;
};

/** The API Gateway v2 event of what is sent. */
export function eventOf({
  method = 'GET',
  path = '/',
  route = path,
  query = '',
  params,
  headers = {},
  body,
  token,
}: Sent): ApiEvent {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const routeKey = `${method} ${templateOf(route)}`;
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(given),
    },
    ...(params && { pathParameters: params }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'test',
      domainName: 'test',
      domainPrefix: 'test',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: '',
      timeEpoch: 0,
    },
    ...(text !== undefined && { body: text }),
    isBase64Encoded: false,
  };
}

/** What a handler answered, its body parsed. */
export type Answer = {
  status: number;
  headers: Record<string, string>;
  body: Record<string, never> & { [name: string]: unknown };
};

/** Sends a request to a handler as Lambda would. */
export async function call(
  handler: (event: ApiEvent, context: ReturnType<typeof contextOf>) => Promise<ApiResult>,
  sent: Sent,
): Promise<Answer> {
  const { statusCode = 200, headers = {}, body } = await handler(eventOf(sent), contextOf('test', 29));
  return { status: statusCode, headers: headers as Record<string, string>, body: body ? JSON.parse(body) : {} };
}
