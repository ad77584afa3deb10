import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryRecord, TestResult } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { closedPort, startReceiver, startSocket } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

/** Tests a webhook at a URL: the answer, which must be a 200, and the attempt in the history. */
async function tested(url: string) {
  const id = await caller.put({ url });
  const answer = await caller.test(id);
  expect(answer.status).toBe(200);
  expect(answer.body.success).toBe(true);
  const [record] = dataOf<DeliveryRecord[]>(await caller.deliveries(id));
  return { result: dataOf<TestResult>(answer), record };
}

/** Tests a webhook whose receiver answers so. */
async function testedAt(answer: (response: ServerResponse) => void) {
  return tested((await startReceiver(answer)).url);
}

describe('a test delivery that fails answers 200 with the error, which the history has too', () => {
  it('with the status and the words of a receiver that answers 500', async () => {
    const { result, record } = await testedAt((response) => response.writeHead(500).end('out of order'));
    expect(Object.keys(result)).toEqual(['deliveryId', 'httpStatus', 'responseBody', 'durationMs', 'error']);
    const failure = { httpStatus: 500, error: 'The receiver answered 500.' };
    expect(result).toMatchObject({ ...failure, responseBody: 'out of order' });
    expect(record).toMatchObject({ ...failure, id: result.deliveryId, redelivery: false });
  });

  it('with the status of a redirect, which is not followed', async () => {
    const elsewhere = await startReceiver();
    const { result, record } = await testedAt((response) =>
      response.writeHead(302, { Location: elsewhere.url }).end('over there'),
    );
    const failure = { httpStatus: 302, error: 'The receiver answered 302.' };
    expect(result).toMatchObject({ ...failure, responseBody: 'over there' });
    expect(record).toMatchObject(failure);
    expect(elsewhere.connections).toEqual([]);
  });

  it('with status 0 and an empty body where the receiver hangs up', async () => {
    const { result, record } = await testedAt((response) => response.destroy());
    const failure = { httpStatus: 0, error: expect.stringMatching(/^The connection failed/) };
    expect(result).toMatchObject({ ...failure, responseBody: '' });
    expect(record).toMatchObject(failure);
  });

  it('with status 0 and an empty body if nothing listens', async () => {
    const { result, record } = await tested(`http://127.0.0.1:${await closedPort()}/`);
    const failure = { httpStatus: 0, error: 'The receiver refused the connection.' };
    expect(result).toMatchObject({ ...failure, responseBody: '' });
    expect(record).toMatchObject(failure);
  });

  it('with status 0 and an empty body where what is answered is no HTTP', async () => {
    const { url } = await startSocket((connection) => connection.end('220 ready for mail\r\n'));
    const { result } = await tested(url);
    expect(result).toMatchObject({ httpStatus: 0, responseBody: '', error: expect.any(String) });
  });
});

describe('the responseBody of a test delivery', () => {
  it.each([
    ['is empty where there is none', '', ''],
    ['has what is no UTF-8 replaced', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\ufffd\ufffdb'],
    ['keeps zero bytes and line breaks', 'a\u0000b\r\nc', 'a\u0000b\r\nc'],
    ['is text also where the receiver sends JSON', '{"ok":true}', '{"ok":true}'],
    ['is whole at 16 KiB', 'a'.repeat(16_384), 'a'.repeat(16_384)],
    ['is cut at a character above 16 KiB', `a${'é'.repeat(16_384)}`, `a${'é'.repeat(8_191)}`],
  ])('%s', async (_, sent, reported) => {
    const { result } = await testedAt((response) => response.writeHead(200).end(sent));
    expect(result.responseBody === reported).toBe(true);
    expect(result).not.toHaveProperty('error');
  });

  it('is not kept in the history', async () => {
    const { record } = await testedAt((response) => response.writeHead(200).end('for the caller alone'));
    expect(record).toMatchObject({ httpStatus: 200 });
    expect(JSON.stringify(await caller.dump())).not.toContain('for the caller alone');
  });
});

describe('a webhook that is deleted while a test of it is under way', () => {
  it('is gone, and the test is answered', async () => {
    let id = '';
    const { url } = await startReceiver(async (response) => {
      await caller.delete(id);
      response.writeHead(200).end('too late');
    });
    id = await caller.put({ url, secret: 'a secret' });
    const answer = await caller.test(id);
    expect(answer.status).toBe(200);
    expect(dataOf<TestResult>(answer)).toMatchObject({ httpStatus: 200, responseBody: 'too late' });
    expect(dataOf(await caller.list())).toEqual([]);
    await caller.refuses(() => caller.test(id), 404, 'not_found');
    // What is left of it is the attempt's row, which expires.
    const left = Object.entries(await caller.dump()).filter(([key]) => key.includes(id.slice(3)));
    expect(left).toEqual([
      [expect.stringContaining('#WD#'), expect.objectContaining({ expiresAt: expect.any(Number) })],
    ]);
  });
});
