import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { Answer } from '../../service.ts';
import { type Receiver, startReceiver } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
let caller: WebhookCaller;
let receiver: Receiver;
let id: string;

beforeEach(async () => {
  caller = await newWebhookCaller();
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

  it('with 400 for each field that it cannot set', async () => {
    const body = { event: 'task.created', httpStatus: 200, events: [] };
    const { details } = await refuses(() => caller.test(id, body), 400, 'validation_failed');
    expect(details).toMatchObject([
      { path: 'httpStatus', code: 'read_only' },
      { path: 'events', code: 'unknown_field' },
    ]);
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
