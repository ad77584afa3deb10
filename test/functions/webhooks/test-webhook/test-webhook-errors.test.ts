import type { ServerResponse } from 'node:http';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../../lib/contract/ids.ts';
import type { DeliveryRecord, TestResult } from '../../../../lib/contract/webhooks/webhooks.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { dataOf } from '../../../api.ts';
import { newForEachTest } from '../../../caller.ts';
import { closedPort, type Receiver, startReceiver } from '../../../sender/receiver.ts';
import type { Answer } from '../../../service.ts';
import { createWebhookCallers } from '../webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);
let receiver: Receiver;
let id: string;
beforeEach(async () => {
  receiver = await startReceiver();
  id = await caller.put({ url: receiver.url, secret: 'a secret' });
});

/** Sends a request, and expects an error response, no write and no connection to the receiver. */
async function refuses(send: () => Promise<Answer>, status: number, code: string) {
  const error = await caller.refuses(send, status, code);
  expect(receiver.connections).toEqual([]);
  return error;
}

describe('a test delivery is refused, and nothing is sent', () => {
  it("with 404 for another organization's webhook", async () => {
    const other = await newWebhookCaller();
    await refuses(() => other.test(id), 404, 'not_found');
  });

  it('with 500 where its secret cannot be decrypted: nothing is sent unsigned, nothing is recorded', async () => {
    const sealed = Buffer.from('not sealed by the key of this deployment').toString('base64');
    const Item = { ...keys.webhookSecret(caller.organization, ulidOf(id)), sealed };
    await service.table.client.send(new PutCommand({ TableName: service.tableName, Item }));
    await refuses(() => caller.test(id), 500, 'internal_error');
  });

  it('with 404 where its secret is already deleted: nothing is sent unsigned', async () => {
    const Key = keys.webhookSecret(caller.organization, ulidOf(id));
    await service.table.client.send(new DeleteCommand({ TableName: service.tableName, Key }));
    await refuses(() => caller.test(id), 404, 'not_found');
  });
});

const urlOf = async (answer: (response: ServerResponse) => void) => (await startReceiver(answer)).url;

it.each([
  [
    'its status and words where the receiver answers 500',
    () => urlOf((response) => response.writeHead(500).end('out of order')),
    { httpStatus: 500, error: 'The receiver answered 500.' },
    'out of order',
  ],
  [
    'status 0 and no words where nothing listens',
    async () => `http://127.0.0.1:${await closedPort()}/`,
    { httpStatus: 0, error: 'The receiver refused the connection.' },
    '',
  ],
])('a test delivery that fails answers 200 with %s; the history has the error too', async (_, url, failure, words) => {
  const id = await caller.put({ url: await url() });
  const answer = await caller.test(id);
  expect([answer.status, answer.body.success]).toEqual([200, true]);
  const result = dataOf<TestResult>(answer);
  expect(Object.keys(result)).toEqual(['deliveryId', 'httpStatus', 'responseBody', 'durationMs', 'error']);
  expect(result).toMatchObject({ ...failure, responseBody: words });
  const records = dataOf<DeliveryRecord[]>(await caller.deliveries(id));
  expect(records).toMatchObject([{ ...failure, id: result.deliveryId, redelivery: false }]);
});

it.each([
  ['is empty where there is none', '', ''],
  ['is text also where the receiver sends JSON', '{"ok":true}', '{"ok":true}'],
  ['keeps line breaks and 16 KiB of zero bytes', `\r\n${'\u0000'.repeat(16_382)}`, `\r\n${'\u0000'.repeat(16_382)}`],
  ['has replacements for what is no UTF-8', Buffer.alloc(16_384, 0xff), '\ufffd'.repeat(5_461)],
  ['is cut at a character above 16 KiB', `a${'é'.repeat(16_384)}`, `a${'é'.repeat(8_191)}`],
])('the responseBody %s, also in the answer to a duplicate request', async (_, sent, reported) => {
  const id = await caller.put({ url: await urlOf((response) => response.writeHead(200).end(sent)) });
  const send = () => caller.test(id, undefined, { headers: { 'Idempotency-Key': 'key' } });
  const [first, again] = [await send(), await send()];
  expect(dataOf<TestResult>(first).responseBody === reported).toBe(true);
  expect(again.headers['Idempotency-Replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
});

it('a webhook that is deleted while a test of it is under way is gone, and the test is answered', async () => {
  const url = await urlOf(async (response) => {
    await caller.delete(id);
    response.writeHead(200).end('too late');
  });
  id = await caller.put({ url, secret: 'a secret' });
  const answer = await caller.test(id);
  expect(answer.status).toBe(200);
  expect(dataOf<TestResult>(answer)).toMatchObject({ httpStatus: 200, responseBody: 'too late' });
  expect(JSON.stringify(dataOf(await caller.list()))).not.toContain(id);
  await caller.refuses(() => caller.test(id), 404, 'not_found');
  // The remaining items are the attempt's row and its response, which expire.
  const left = Object.entries(await caller.dump()).filter(([key]) => key.includes(id.slice(3)));
  const row = expect.objectContaining({ expiresAt: expect.any(Number) });
  expect(left).toEqual([
    [expect.stringContaining('#WB#'), row],
    [expect.stringContaining('#WD#'), row],
  ]);
});
