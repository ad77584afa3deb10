import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler } from '../../../functions/open/health.ts';
import { environment } from '../../../lib/names/environment.ts';
import { call, openService, pointFunctionsAt } from '../../service.ts';

const service = await openService();
pointFunctionsAt(service);

it.each([undefined, 'broken'])('answers ok to anyone, with the token %s', async (token) => {
  const answer = await call(handler, { path: '/health', ...(token && { token }) });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ success: true, data: { status: 'ok' } });
  expect(answer.headers['Content-Type']).toBe('application/json');
  expect(answer.headers).not.toHaveProperty('ETag');
});

describe('in a process without a context', () => {
  beforeEach(() => {
    // The context of the process that an earlier file created would hide that a function needs one.
    vi.resetModules();
    for (const name of Object.values(environment)) vi.stubEnv(name, undefined);
  });
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['without a table', {}],
    ['with a setting of any function that is invalid', { TABLE_NAME: 'table', RETRY_LADDER: '0,1800,7200' }],
  ])('%s, the response is 503 without the cause, which is in the log', async (_, variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const { handler: health } = await import('../../../functions/open/health.ts');
    const answer = await call(health, { path: '/health' });
    expect([answer.status, answer.headers['Retry-After']]).toEqual([503, '5']);
    expect(answer.body).toMatchObject({ success: false, error: { code: 'unavailable' } });
    expect(JSON.stringify(answer.body)).not.toMatch(/TABLE_NAME|RETRY_LADDER/);
  });

  it('the 404 of an unknown path needs no environment', async () => {
    const { handler: unmatched } = await import('../../../functions/open/unmatched.ts');
    expect((await call(unmatched, { path: '/nothing' })).status).toBe(404);
  });
});
