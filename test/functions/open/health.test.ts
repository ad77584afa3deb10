import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { handler } from '../../../functions/open/health.ts';
import { handler as unmatched } from '../../../functions/open/unmatched.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { errorOf } from '../../api.ts';
import { call, eventOf } from '../../service.ts';
import { closedPort, openedSockets } from '../../webhooks/sender/receiver.ts';

/** The names of the environment variables that locate the table, the queues and the model. */
const variables = Object.values(environment);

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

it('answers ok to anyone, without a token', async () => {
  const answer = await call(handler, { path: '/health' });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ success: true, data: { status: 'ok' } });
  expect(answer.headers['Content-Type']).toBe('application/json');
  expect(answer.headers).not.toHaveProperty('ETag');
});

it('opens no connection, whether the environment is empty or names unreachable endpoints', async () => {
  const sockets = openedSockets();
  expect((await call(handler, { path: '/health' })).status).toBe(200);
  const nowhere = `http://127.0.0.1:${await closedPort()}`;
  for (const name of variables) vi.stubEnv(name, nowhere);
  expect((await call(handler, { path: '/health' })).status).toBe(200);
  expect(sockets).toEqual([]);
});

it('is not the only one: the 404 of an unknown path needs no environment either', async () => {
  expect((await call(unmatched, { path: '/nothing' })).status).toBe(404);
});

it('pays no heed to a token, however broken', async () => {
  const answer = await call(handler, { path: '/health', headers: { Authorization: 'Bearer broken' } });
  expect(answer.status).toBe(200);
});

it('has the requestId of its request', async () => {
  const event = eventOf({ path: '/health' });
  const answer = await handler(event, { getRemainingTimeInMillis: () => 29_000 } as never);
  expect(answer.headers?.['X-Request-Id']).toBe(event.requestContext.requestId);
});

it('is refused with 400 validation_failed for a query, which it does not take', async () => {
  const answer = await call(handler, { path: '/health', query: 'verbose=1' });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
});

it('is refused with 413 payload_too_large for a body of 300 KB', async () => {
  const answer = await call(handler, { path: '/health', body: 'x'.repeat(300 * 1024) });
  expect([answer.status, errorOf(answer).code]).toEqual([413, 'payload_too_large']);
});
