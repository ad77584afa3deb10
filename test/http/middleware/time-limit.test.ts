import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Endpoint, endpoint } from '../../../lib/contract/endpoint.ts';
import { serve } from '../../../lib/http/serve.ts';
import { serveOpen } from '../../../lib/http/serve-open.ts';
import { eventOf, newCaller, openService } from '../../service.ts';

const { app } = await openService();
const { token } = await newCaller(app);
const rowOf = (method: Method) => endpoint({ method, path: '/never', summary: 'Never answers', status: 200 });
type Method = Endpoint['method'];
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
  open: (method: Method) => serveOpen(rowOf(method), never),
  scoped: (method: Method) => serve({ ...rowOf(method), scope: 'tasks:read' }, never, () => app),
};

const nothingChanged = 'The request took too long, and nothing was changed. Try again shortly.';
const unknown = expect.stringMatching(/^The request took too long, and it is not known whether/);

it.each([
  ['open', 'GET', 29_000, nothingChanged],
  ['scoped', 'GET', 3_000, nothingChanged],
  ['scoped', 'POST', 29_000, unknown],
  ['scoped', 'DELETE', 29_000, unknown],
] as const)(
  'an endpoint that is %s, with %s and %i ms, responds with 503 half a second before the timeout',
  async (kind, method, limit, message) => {
    const remaining = () => limit - now;
    const event = eventOf({ method, path: '/never', token });
    const answer = await handlers[kind](method)(event, { getRemainingTimeInMillis: remaining } as never);
    const { success, error } = JSON.parse(answer.body as string);
    expect([answer.statusCode, success, error.code, error.message]).toEqual([503, false, 'unavailable', message]);
    expect(answer.headers?.['Retry-After']).toBe('1');
    expect(remaining()).toBe(500);
  },
);
