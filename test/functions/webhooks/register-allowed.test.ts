import { beforeEach, describe, expect, it } from 'vitest';
import { newWebhook, openRegistries, type Registry } from './registry.ts';

const { newRegistry } = await openRegistries({ ALLOWED_RECEIVERS: '127.0.0.1:*,localhost:3001' });
let registry: Registry;

beforeEach(async () => {
  registry = await newRegistry();
});

describe('where the operator opens receivers', () => {
  it.each(['http://127.0.0.1:8080/hooks', 'https://127.0.0.1:8080/', 'http://localhost:3001/'])(
    'they may be registered: %s',
    async (url) => {
      expect((await registry.register({ ...newWebhook, url })).status).toBe(201);
    },
  );

  it.each([
    ['http://localhost:3002/', 400, 'validation_failed'],
    ['https://localhost:3002/', 422, 'url_not_allowed'],
    ['http://user:word@127.0.0.1:8080/', 422, 'url_not_allowed'],
    ['https://127.0.0.2/', 422, 'url_not_allowed'],
    ['http://example.com/', 400, 'validation_failed'],
  ])('others may not: %s', async (url, status, code) => {
    await registry.refuses(() => registry.register({ ...newWebhook, url }), status, code);
  });
});
