import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, type TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { handler as Handler } from '../../../docs/examples/lambda-receiver.ts';
import { delivery, minutes, type Posted, secret } from './posted.ts';

const file = 'docs/examples/lambda-receiver.ts';
const TableName = 'lambda-receiver';
const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  TABLE_NAME: TableName,
  WEBHOOK_SECRET: secret,
};

let folder: string;
let handler: typeof Handler;

/** The items of the receiver's table, by id. */
const items = new Map<string, Record<string, unknown>>();

/** Carries out a transaction of the receiver: puts, of which some have the condition that the item is new. */
async function write({ input: { TransactItems = [] } }: TransactWriteCommand): Promise<object> {
  const puts = TransactItems.map(({ Put }) => ({ new: Put?.ConditionExpression !== undefined, item: Put?.Item ?? {} }));
  const reasons = puts.map((put) => ({
    Code: put.new && items.has(put.item.id) ? 'ConditionalCheckFailed' : 'None',
  }));
  if (reasons.some(({ Code }) => Code !== 'None'))
    throw new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons: reasons });
  for (const { item } of puts) items.set(item.id, item);
  return {};
}

beforeAll(async () => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  // Built as its first lines say, in a folder that finds the packages of Lambda.
  mkdirSync('.build', { recursive: true });
  folder = mkdtempSync('.build/lambda-receiver-');
  const [, command = ''] = /^\/\/ {3}npx (esbuild .*)$/m.exec(readFileSync(file, 'utf8')) ?? [];
  const bundle = join(folder, 'index.mjs');
  execFileSync('bash', ['-c', `node_modules/.bin/${command.replace('index.mjs', bundle)}`], { stdio: 'ignore' });
  ({ handler } = await import(join(process.cwd(), bundle)));
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(write as never);
  return () => vi.restoreAllMocks();
});

/** Returns the event of a POST to a function URL: header names in lower case, and the body as text or as base64. */
function eventOf({ body, headers }: Omit<Posted, 'deliveryId'>, isBase64Encoded = false): LambdaFunctionURLEvent {
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/',
    rawQueryString: '',
    headers: lowerCase,
    requestContext: {} as LambdaFunctionURLEvent['requestContext'],
    body: isBase64Encoded ? Buffer.from(body).toString('base64') : body,
    isBase64Encoded,
  };
}

const subjectOf = ({ body }: Posted) => {
  const { data } = JSON.parse(body);
  return data.task ?? data.execution;
};

it.each([
  ['text', false],
  ['base64', true],
])('works on a genuine delivery that comes as %s', async (_, isBase64Encoded) => {
  const posted = delivery({ event: 'task.completed' });
  expect(await handler(eventOf(posted, isBase64Encoded))).toEqual({ statusCode: 204 });
  const { id, title } = subjectOf(posted);
  expect(items.get(id)).toEqual({ id, title, completedAt: JSON.parse(posted.body).data.occurredAt });
  const { expiresAt } = items.get(posted.deliveryId) as { expiresAt: number };
  expect(Math.abs(expiresAt * 1000 - Date.now() - minutes(24 * 60))).toBeLessThan(minutes(1));
});

it('processes each event by its name', async () => {
  const failed = delivery({ event: 'agent.failed' });
  expect(await handler(eventOf(failed))).toEqual({ statusCode: 204 });
  const { id, agentName, error } = subjectOf(failed);
  expect(items.get(id)).toEqual({ id, agent: agentName, error });

  const before = items.size;
  const created = delivery({ event: 'task.created' });
  expect(await handler(eventOf(created))).toEqual({ statusCode: 204 });
  expect(items.get(created.deliveryId)).toBeDefined();
  expect(items.size).toBe(before + 1);
});

it('processes a duplicate once, also with a new signature', async () => {
  const first = delivery({ event: 'task.completed', sentAt: Date.now() - minutes(4) });
  const retry = delivery({ event: 'task.completed', deliveryId: first.deliveryId });
  await handler(eventOf(first));
  const { id } = subjectOf(first);
  items.delete(id);
  const before = items.size;
  for (const again of [first, retry]) expect(await handler(eventOf(again))).toEqual({ statusCode: 204 });
  expect(items.get(id)).toBeUndefined();
  expect(items.size).toBe(before);
});

it('rejects a forged delivery and a request without a body, and does nothing', async () => {
  const before = items.size;
  const forged = eventOf(delivery({ event: 'task.completed', key: 'another secret' }));
  const { body, ...empty } = eventOf(delivery());
  for (const event of [forged, empty]) expect(await handler(event)).toEqual({ statusCode: 401 });
  expect(items.size).toBe(before);
  expect(console.error).toHaveBeenCalledTimes(2);
});

it('fails if the work fails, and processes the retry', async () => {
  const posted = delivery({ event: 'task.completed' });
  vi.mocked(DynamoDBDocumentClient.prototype.send).mockRejectedValueOnce(new Error('no table') as never);
  await expect(handler(eventOf(posted))).rejects.toThrow('no table');
  expect(await handler(eventOf(posted))).toEqual({ statusCode: 204 });
  expect(items.get(subjectOf(posted).id)).toBeDefined();
});
