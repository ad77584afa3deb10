import type { ServerResponse } from 'node:http';
import { beforeEach, expect, it } from 'vitest';
import type { DeliveryRecord, TestResult } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { closedPort, startReceiver } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
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
  let id = '';
  const url = await urlOf(async (response) => {
    await caller.delete(id);
    response.writeHead(200).end('too late');
  });
  id = await caller.put({ url, secret: 'a secret' });
  const answer = await caller.test(id);
  expect(answer.status).toBe(200);
  expect(dataOf<TestResult>(answer)).toMatchObject({ httpStatus: 200, responseBody: 'too late' });
  expect(dataOf(await caller.list())).toEqual([]);
  await caller.refuses(() => caller.test(id), 404, 'not_found');
  // The remaining item is the attempt's row, which expires.
  const left = Object.entries(await caller.dump()).filter(([key]) => key.includes(id.slice(3)));
  const row = expect.objectContaining({ expiresAt: expect.any(Number) });
  expect(left).toEqual([[expect.stringContaining('#WD#'), row]]);
});
