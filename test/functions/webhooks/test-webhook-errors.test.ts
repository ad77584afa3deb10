import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { Answer } from '../../service.ts';
import { type Receiver, startReceiver } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const absent = 'wh_01K00000000000000000000000';
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
  it('with 401 without a token', async () => {
    await refuses(() => caller.test(id, undefined, { token: '' }), 401, 'unauthorized');
  });

  it.each(['webhooks:read', 'tasks:write', 'agents:execute'] as const)('with 403 for %s alone', async (scope) => {
    const token = await caller.tokenOf([scope]);
    await refuses(() => caller.test(id, undefined, { token }), 403, 'insufficient_scope');
  });

  it.each([absent, 'wh_1', 'register', absent.toLowerCase(), 'tk_01K00000000000000000000000', ''])(
    'with 404 for the webhook %j, which there is not',
    async (other) => {
      await refuses(() => caller.test(other), 404, 'not_found');
    },
  );

  it("with 404 for another organization's webhook", async () => {
    const other = await newWebhookCaller();
    await refuses(() => other.test(id), 404, 'not_found');
  });

  it('with 404 for a webhook that was deleted', async () => {
    await caller.delete(id);
    await refuses(() => caller.test(id), 404, 'not_found');
  });

  it('with 404 under an Idempotency-Key too, which leaves no trace', async () => {
    const headers = { 'Idempotency-Key': 'key' };
    await refuses(() => caller.test(absent, undefined, { headers }), 404, 'not_found');
  });

  it.each([
    ['no event', {}, 'event', 'required'],
    ['a null event', { event: null }, 'event', 'invalid_value'],
    ['an unknown event', { event: 'task.deleted' }, 'event', 'invalid_value'],
    ['an event in capitals', { event: 'TASK.CREATED' }, 'event', 'invalid_value'],
    ['several events', { event: ['task.created'] }, 'event', 'invalid_value'],
    ['an unknown field', { event: 'task.created', events: [] }, 'events', 'unknown_field'],
    ['a field that only answers have', { event: 'task.created', httpStatus: 200 }, 'httpStatus', 'read_only'],
    ['a body that is no object', [], '', 'invalid_type'],
  ])('with 400 for %s', async (_, body, path, code) => {
    const { details } = await refuses(() => caller.test(id, body), 400, 'validation_failed');
    expect(details).toMatchObject([{ path, code }]);
  });

  it('with 400 for no body, which counts as an empty one', async () => {
    const send = () => caller.test(id, undefined, { body: undefined });
    const { details } = await refuses(send, 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'event', code: 'required' }]);
  });

  it('with 400 for a query, which it does not take', async () => {
    const { details } = await refuses(
      () => caller.test(id, undefined, { query: 'event=task.created' }),
      400,
      'validation_failed',
    );
    expect(details).toMatchObject([{ path: 'event', code: 'unknown_field' }]);
  });
});

describe('a secret that cannot be opened', () => {
  it('answers 500: nothing is sent unsigned, nothing is recorded', async () => {
    const sealed = Buffer.from('not sealed by the key of this deployment').toString('base64');
    const Item = { ...keys.webhookSecret(caller.organization, ulidOf(id)), sealed };
    await service.table.client.send(new PutCommand({ TableName: service.tableName, Item }));
    await refuses(() => caller.test(id), 500, 'internal_error');
  });
});
