import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import type { Context } from '../../../lib/context/context.ts';
import { endpoint } from '../../../lib/contract/endpoint.ts';
import { createTask } from '../../../lib/contract/tasks/tasks.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { serve } from '../../../lib/http/serve.ts';
import { environment } from '../../../lib/names/environment.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import * as tasks from '../../../lib/tasks/tasks.ts';
import { errorOf } from '../../api.ts';
import { type Answer, call, clockAt, newCaller, openService, type Sent } from '../../service.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { dumpOf } from '../../table/fixtures/table-dump.ts';

const path = '/api/kanban-tasks';
const clock = clockAt(Date.parse('2026-03-01T12:00:00.000Z'));
const { app, table } = await openService(clock, { [environment.requestsPerMinute]: '60' });
const createHandler = (context: Context) =>
  serve(
    createTask,
    ({ body, caller, recordResponse }) => tasks.createTask(context, caller.organization, body, recordResponse),
    () => context,
  );
const create = createHandler(app);
/** Creates an organization with a limit of 60 requests per minute, which allows a burst of 10. */
async function newLimited() {
  const { organization, token } = await newCaller(app);
  const send = (more: Sent = {}) => call(create, { method: 'POST', path, body: { title: 't' }, token, ...more });
  return {
    organization,
    send,
    dump: () => dumpOf(table, organization),
    spend: async (count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth++) await send({ body: {} });
    },
  };
}

const limitOf = ({ headers }: Answer) => [headers['RateLimit-Policy'], headers.RateLimit];

describe('an organization above its limit of requests', () => {
  it('gets 429 with the time to wait, and nothing is changed', async () => {
    const { send, spend, dump } = await newLimited();
    await spend(10);
    const before = await dump();
    const answer = await send({ headers: { 'Idempotency-Key': 'key' } });
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'rate_limited']);
    expect(errorOf(answer).message).toMatch(/more than 60 requests a minute/);
    expect(answer.headers['Retry-After']).toBe('1');
    expect(limitOf(answer)).toEqual(['"requests";q=60;w=60', '"requests";r=0;t=1']);
    expect(answer.headers['X-Request-Id']).toBe(errorOf(answer).requestId);
    expect(await dump()).toEqual(before);
  });

  it('causes no request to the table, and can send requests again after the time in Retry-After', async () => {
    const { send, spend } = await newLimited();
    await spend(10);
    const { costOf } = meter(app.table);
    expect((await costOf(() => send())).requests).toBe(0);
    clock.now += 1_000;
    expect((await send()).status).toBe(201);
  });

  it('gets 429 with each of its tokens and for a body of 300 KB, and another organization does not', async () => {
    const [{ organization, send, spend }, other] = [await newLimited(), await newLimited()];
    await spend(10);
    const second = await issueToken(app, { organization, scopes: ['tasks:write'] });
    expect((await send({ token: second })).status).toBe(429);
    expect((await send({ body: 'x'.repeat(300 * 1024) })).status).toBe(429);
    expect((await other.send()).status).toBe(201);
  });
});

describe('a response', () => {
  it.each<[string, Sent, number, string | undefined]>([
    ['with a success', {}, 201, undefined],
    ['with an error', { body: {} }, 400, undefined],
    ['to a duplicate', { headers: { 'Idempotency-Key': 'key' } }, 201, 'true'],
  ])('%s has the limit and the remaining requests', async (_, sent, status, replayed) => {
    const { send } = await newLimited();
    const [first, second] = [await send(sent), await send(sent)];
    expect([first.status, second.status, second.headers['Idempotency-Replayed']]).toEqual([status, status, replayed]);
    expect(limitOf(first)).toEqual(['"requests";q=60;w=60', '"requests";r=9;t=9']);
    expect(limitOf(second)).toEqual(['"requests";q=60;w=60', '"requests";r=8;t=8']);
  });

  it('of a deployment without limits has no limit headers', async () => {
    const { app: unlimited } = await openService(clock);
    const { token } = await newCaller(unlimited);
    const handler = createHandler(unlimited);
    const answer = await call(handler, { method: 'POST', path, body: { title: 't' }, token });
    expect([answer.status, ...limitOf(answer)]).toEqual([201, undefined, undefined]);
  });
});

describe('requests that call receivers or models', () => {
  const row = endpoint({
    ...{ method: 'POST', path: '/api/calls', scope: 'tasks:write', summary: 'Call', callsOut: true },
    ...{ body: v.object({}), status: 200, data: v.object({}) },
  });

  /** Creates an organization with a limit of 60 such requests per minute, which allows a burst of 10. */
  async function newCalling() {
    const { app: own } = await openService(clock, {
      [environment.requestsPerMinute]: '600',
      [environment.callsOutPerMinute]: '60',
    });
    const calls = vi.fn(async () => ({}));
    const handler = serve(row, calls, () => own);
    const { organization, token } = await newCaller(own);
    const send = (more: Sent = {}) => call(handler, { method: 'POST', path: row.path, body: {}, token, ...more });
    const sendMany = (count: number, more?: Sent) => Array.fromAsync({ length: count }, () => send(more));
    return { own, organization, token, calls, send, sendMany };
  }

  it('have a limit of their own: above it they get 429 with the time to wait, nothing is called and nothing is changed', async () => {
    const { own, organization, calls, send, sendMany } = await newCalling();
    const statuses = (await sendMany(10)).map(({ status }) => status);
    const before = await dumpOf(own.table, organization);
    const answer = await send({ headers: { 'Idempotency-Key': 'key' } });
    expect([statuses, calls.mock.calls.length]).toEqual([Array(10).fill(200), 10]);
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'rate_limited']);
    expect(errorOf(answer).message).toMatch(/more than 60 requests a minute that call receivers or models; retry/);
    expect([answer.headers['Retry-After'], ...limitOf(answer)]).toEqual([
      ...['1', '"calls-out";q=60;w=60', '"calls-out";r=0;t=1'],
    ]);
    expect(await dumpOf(own.table, organization)).toEqual(before);
    clock.now += 1_000;
    expect((await send()).status).toBe(200);
  });

  it('do not use up the limit of other requests, other requests not theirs, and those of other organizations have their own', async () => {
    const { own, token, send, sendMany } = await newCalling();
    const others = createHandler(own);
    const create = () => call(others, { method: 'POST', path, body: { title: 't' }, token });
    for (let nth = 0; nth < 12; nth++) expect((await create()).status).toBe(201);
    expect((await sendMany(11)).map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
    const created = await create();
    expect([created.status, limitOf(created)[0]]).toEqual([201, '"requests";q=600;w=60']);
    const { token: other } = await newCaller(own);
    expect((await send({ token: other })).status).toBe(200);
  });

  it('are counted in all containers together, in an item of the organization beside that of its requests', async () => {
    const { own, organization, token, sendMany } = await newCalling();
    await sendMany(10);
    const counted = await getItem(own.table, keys.callsOutBucket(organization));
    expect(counted).toMatchObject({ fullAt: clock.now + 9_000 });
    const container = { ...own, requestCounts: new Map() };
    const handler = serve(
      row,
      async () => ({}),
      () => container,
    );
    const statuses = await Array.fromAsync({ length: 6 }, async () => {
      return (await call(handler, { method: 'POST', path: row.path, body: {}, token })).status;
    });
    // It learns of the others by its first report, after its third request.
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
  });
});

it('the order of checks puts 401 and 403 before 429: neither counts as a request', async () => {
  const { organization, send, spend } = await newLimited();
  const reader = await issueToken(app, { organization, scopes: ['tasks:read'] });
  const refused = await Promise.all([send({ token: 'none' }), send({ token: reader })]);
  expect(refused.map(({ status }) => status)).toEqual([401, 403]);
  for (const answer of refused) expect(limitOf(answer)).toEqual([undefined, undefined]);
  await spend(9);
  expect((await send()).status).toBe(201);
  expect((await send()).status).toBe(429);
  expect((await send({ token: reader })).status).toBe(403);
});

it('the own limit of an organization takes effect half a minute after it is set or removed, also for tokens that are created later', async () => {
  const { organization, send } = await newLimited();
  await send();
  await changeSettings(app, organization, { requestsPerMinute: 600 });
  expect(limitOf(await send())[0]).toBe('"requests";q=60;w=60');
  clock.now += 30_000;
  expect(limitOf(await send())).toEqual(['"requests";q=600;w=60', '"requests";r=59;t=6']);
  const later = await send({ token: await issueToken(app, { organization, scopes: ['tasks:write'] }) });
  expect([later.status, limitOf(later)[0]]).toEqual([201, '"requests";q=600;w=60']);
  await changeSettings(app, organization, { requestsPerMinute: undefined });
  clock.now += 30_000;
  expect(limitOf(await send())[0]).toBe('"requests";q=60;w=60');
});

it('the used requests of an organization are in one item of the table, without a kind that would invoke a function', async () => {
  const { organization, spend } = await newLimited();
  await spend(10);
  const key = keys.requestBucket(organization);
  expect(await getItem(table, key)).toEqual({ ...key, fullAt: clock.now + 9_000, reportedAt: clock.now });
});
