import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { endpoint } from '../../../lib/contract/endpoint.ts';
import { serve } from '../../../lib/http/serve.ts';
import { serveOpen } from '../../../lib/http/serve-open.ts';
import { eventOf, newCaller, openService } from '../../service.ts';

const { app } = await openService();
const { token } = await newCaller(app);
const row = endpoint({ method: 'GET', path: '/never', summary: 'Never answers', status: 200 });
const never = () => new Promise<never>(() => {});

let now: number;

// Middy imports `setTimeout` by name, so a new one takes effect only when the exports of the module are synchronized.
beforeEach(() => {
  now = 0;
  vi.spyOn(timers, 'setTimeout').mockImplementation(((callback: () => void, afterMs: number) => {
    now += afterMs;
    queueMicrotask(callback);
  }) as never);
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const handlers = {
  open: serveOpen(row, never),
  scoped: serve({ ...row, scope: 'tasks:read' }, never, () => app),
};

it.each([
  ['open', 29_000],
  ['open', 3_000],
  ['scoped', 29_000],
] as const)(
  'an endpoint that is %s and has %i ms responds with 503 half a second before the timeout',
  async (kind, limit) => {
    const remaining = () => limit - now;
    const event = eventOf({ path: '/never', token });
    const answer = await handlers[kind](event, { getRemainingTimeInMillis: remaining } as never);
    const { success, error } = JSON.parse(answer.body as string);
    expect([answer.statusCode, success, error.code]).toEqual([503, false, 'unavailable']);
    expect(answer.headers?.['Retry-After']).toBe('1');
    expect(remaining()).toBe(500);
  },
);
