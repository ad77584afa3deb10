import { SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { afterAll, expect, it } from 'vitest';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { createQueueSender } from '../../lib/aws/queue.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { openTable } from '../../lib/table/access/client.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { isHopeless } from '../../lib/workers/hopeless.ts';
import { startReceiver } from '../sender/receiver.ts';

/** Returns the error that a function throws. */
const errorOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .catch((error: unknown) => error);
const named = (name: string, more: object = {}) => Object.assign(new Error('a fault'), { name, ...more });

it.each([
  ['invalid JSON', errorOf(() => JSON.parse('{'))],
  ['a field of nothing', errorOf(() => (undefined as unknown as { pk: string }).pk)],
  ['an invalid time', errorOf(() => new Date(Number.NaN).toISOString())],
  ['a value outside its schema', errorOf(() => v.parse(v.number(), 'one'))],
  ['an item that the table rejects', named('ValidationException', { $fault: 'client', $response: {} })],
])('%s will fail at each retry', async (_, thrown) => {
  const error = await thrown;
  expect([error instanceof Error, isHopeless(error)]).toEqual([true, true]);
});

it.each([
  ['throttling', named('ThrottlingException', { $fault: 'client' })],
  ['a missing right', named('AccessDeniedException', { $fault: 'client' })],
  ['a broken connection', named('Error', { code: 'ECONNRESET' })],
  ['a time-out', named('TimeoutError')],
  ['a busy service', new ApiError('unavailable', 'busy')],
  ['an unknown value', 'a text'],
])('%s may pass', (_, error) => {
  expect(isHopeless(error)).toBe(false);
});

/** A server whose responses do not come from AWS, but for example from a proxy, or end too soon. */
const { url } = await startReceiver((response) => {
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{"Item": {"pk');
});
const endpoint = new URL(url).origin;
const sqs = new SQSClient(clientConfig(endpoint));
afterAll(() => sqs.destroy());

it.each([
  ['the table', () => getItem(openTable('table', endpoint), { pk: 'pk', sk: 'sk' })],
  ['a queue', () => createQueueSender(sqs, `${endpoint}/queue`)([{ message: {}, delaySeconds: 0 }])],
])('an invalid response of %s may pass: the change is tried again', async (_, request) => {
  const error = await request().then(String, (error: unknown) => error);
  expect(error).toBeInstanceOf(SyntaxError);
  expect(isHopeless(error)).toBe(false);
});
