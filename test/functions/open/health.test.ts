import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { environment } from '../../../lib/deployment/environment.ts';
import { call } from '../../service.ts';
import { closedPort, openedSockets } from '../../webhooks/sender/receiver.ts';

/** The names of the environment variables that locate the table, the queues and the model. */
const variables = Object.values(environment);

// The context of the process that an earlier file created would hide that a function needs one.
vi.resetModules();
const { handler } = await import('../../../functions/open/health.ts');
const { handler: unmatched } = await import('../../../functions/open/unmatched.ts');

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

it.each([undefined, 'broken'])('answers ok to anyone, with the token %s', async (token) => {
  const answer = await call(handler, { path: '/health', ...(token && { token }) });
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
