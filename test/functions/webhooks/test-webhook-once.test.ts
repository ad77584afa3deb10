import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { TestResult } from '../../../lib/contract/webhooks.ts';
import { keys } from '../../../lib/table/keys.ts';
import { dataOf, errorOf } from '../../api.ts';
import type { Answer } from '../../service.ts';
import { type Receiver, startReceiver } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const headers = { 'Idempotency-Key': 'key' };
const absent = 'wh_01K00000000000000000000000';
let caller: WebhookCaller;
let receiver: Receiver;
let id: string;

beforeEach(async () => {
  caller = await newWebhookCaller();
  receiver = await startReceiver((response) => response.writeHead(200).end('thank you'));
  id = await caller.put({ url: receiver.url, secret: 'a private secret' });
});

/** Asks for a test delivery under the key. */
const send = (body?: unknown, webhook = id) => caller.test(webhook, body, { headers });
const replayed = (answer: Answer) => answer.headers['Idempotency-Replayed'] === 'true';
const codeOf = (answer: Answer) => [answer.status, errorOf(answer)?.code];

/** Registers a webhook whose receiver waits for `answer()`. `reached` resolves when the request arrives. */
async function newWaitingWebhook() {
  const [reached, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { url, received } = await startReceiver(async (response) => {
    reached.resolve();
    await answered.promise;
    response.writeHead(200).end('at last');
  });
  return { id: await caller.put({ url }), received, reached: reached.promise, answer: answered.resolve };
}

describe('a test delivery under an Idempotency-Key', () => {
  it('is refused with 422 idempotency_key_reused for another event or webhook, while it is under way and after', async () => {
    const waiting = await newWaitingWebhook();
    const first = send({ event: 'task.created' }, waiting.id);
    await waiting.reached;
    const others = () =>
      Promise.all([send({ event: 'agent.failed' }, waiting.id), send({ event: 'task.created' }, id)]);
    const refused = Array(2).fill([422, 'idempotency_key_reused']);
    expect((await others()).map(codeOf)).toEqual(refused);
    waiting.answer();
    await first;
    expect((await others()).map(codeOf)).toEqual(refused);
    expect([waiting.received.length, receiver.received.length]).toEqual([1, 0]);
  });

  it('is also replayed when the receiver answered with an error', async () => {
    const broken = await startReceiver((response) => response.writeHead(500).end('out of order'));
    const webhook = await caller.put({ url: broken.url });
    const first = await send(undefined, webhook);
    expect(dataOf<TestResult>(first)).toMatchObject({ httpStatus: 500, error: 'The receiver answered 500.' });
    const again = await send(undefined, webhook);
    expect([replayed(again), again.body]).toEqual([true, first.body]);
    expect(broken.received).toHaveLength(1);
  });

  it.each([
    ['zero bytes', Buffer.alloc(16_384)],
    ['no UTF-8', Buffer.alloc(16_384, 0xff)],
  ])('is replayed letter by letter where the receiver answered %s', async (_, body) => {
    const { url } = await startReceiver((response) => response.writeHead(200).end(body));
    const webhook = await caller.put({ url });
    const [first, again] = [await send(undefined, webhook), await send(undefined, webhook)];
    expect(replayed(again)).toBe(true);
    expect(again.body).toEqual(first.body);
  });

  it('reaches the receiver each time without a key, and under another one', async () => {
    await caller.test(id);
    await caller.test(id);
    await send();
    await caller.test(id, undefined, { headers: { 'Idempotency-Key': 'Key' } });
    expect(receiver.received).toHaveLength(4);
  });
});

describe('the key of a test delivery is free again at once', () => {
  it('where the webhook is not there', async () => {
    expect(codeOf(await send(undefined, absent))).toEqual([404, 'not_found']);
    expect(codeOf(await send(undefined, absent))).toEqual([404, 'not_found']);
    const answer = await send();
    expect([answer.status, replayed(answer)]).toEqual([200, false]);
  });

  it('where the request is not a good one', async () => {
    expect(codeOf(await send({}))).toEqual([400, 'validation_failed']);
    expect((await send()).status).toBe(200);
  });

  it('where it ended in an error of ours before anything was sent', async () => {
    const Key = keys.webhookSecret(caller.organization, ulidOf(id));
    const { client, name: TableName } = service.table;
    const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    const sealed = Buffer.from('not sealed by the key of this deployment').toString('base64');
    await client.send(new PutCommand({ TableName, Item: { ...Item, sealed } }));
    expect(codeOf(await send())).toEqual([500, 'internal_error']);
    await client.send(new PutCommand({ TableName, Item }));
    const answer = await send();
    expect([answer.status, replayed(answer)]).toEqual([200, false]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('the record of a test delivery', () => {
  /** The records of Idempotency-Keys, as text. */
  const records = async () => {
    const items = Object.entries(await caller.dump()).filter(([key]) => key.includes('#I#'));
    return JSON.stringify(items);
  };

  it('has neither key nor secret nor URL in it, while it is under way and after', async () => {
    const waiting = await newWaitingWebhook();
    const first = send(undefined, waiting.id);
    await waiting.reached;
    expect(await records()).toContain('leaseUntil');
    expect(await records()).not.toMatch(/"key"|private|127\.0\.0\.1|task\.created/);
    waiting.answer();
    await first;
    await caller.test(id, undefined, { headers: { 'Idempotency-Key': 'another' } });
    expect(await records()).toContain('thank you');
    expect(await records()).not.toMatch(/leaseUntil|"key"|private|127\.0\.0\.1|task\.created/);
  });
});
