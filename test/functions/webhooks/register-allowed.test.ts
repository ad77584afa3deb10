import { beforeEach, describe, expect, it } from 'vitest';
import { createWebhookCallers, newWebhook, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*,localhost:3001' });
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

describe('where the operator opens receivers', () => {
  it.each(['http://127.0.0.1:8080/hooks', 'https://127.0.0.1:8080/', 'http://localhost:3001/'])(
    'they may be registered: %s',
    async (url) => {
      expect((await caller.register({ ...newWebhook, url })).status).toBe(201);
    },
  );

  it.each([
    ['http://localhost:3002/', 400, 'validation_failed'],
    ['https://localhost:3002/', 422, 'url_not_allowed'],
    ['http://user:word@127.0.0.1:8080/', 422, 'url_not_allowed'],
    ['https://127.0.0.2/', 422, 'url_not_allowed'],
    ['http://example.com/', 400, 'validation_failed'],
  ])('others may not: %s', async (url, status, code) => {
    await caller.refuses(() => caller.register({ ...newWebhook, url }), status, code);
  });
});
