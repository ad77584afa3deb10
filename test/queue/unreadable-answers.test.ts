import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, expect, it } from 'vitest';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { isHopeless } from '../../lib/queue/hopeless.ts';
import { createQueueSender } from '../../lib/sqs/queue.ts';
import { openTable } from '../../lib/table/client.ts';
import { getItem } from '../../lib/table/reads.ts';
import { startReceiver } from '../webhooks/sender/receiver.ts';

/** A server whose responses are not those of AWS, as from a proxy, or end too soon. */
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
