import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../infra/local/gateway.ts';
import { type Context, createContext, processContext, setProcessContext } from '../../lib/context/context.ts';
import { mcp } from '../../lib/contract/open/mcp.ts';
import type { Handlers } from '../../lib/mcp/call-operation.ts';
import { serveMcp } from '../../lib/mcp/serve-mcp.ts';
import { environment } from '../../lib/names/environment.ts';
import { createApi, errorOf, paginationOf, statusAndCodeOf } from '../api.ts';
import { sendRequest } from '../api-over-http.ts';
import { call, clockAt, newCaller, openService, pointFunctionsAt, type Sent } from '../service.ts';
import { meter } from '../table/fixtures/capacity.ts';
import { callTool, connect, messageOf } from './mcp-client.ts';

const service = await openService();
pointFunctionsAt(service, { [environment.corsOrigins]: 'https://board.example.com,http://localhost:*' });
const gateway = await startGateway(0);
afterAll(() => gateway.stop());

/** Creates an organization, and returns what sends requests to `POST /mcp` with its token. */
async function newOrganization() {
  const { organization, token } = await newCaller(processContext());
  const send = (sent: Partial<Sent> = {}) =>
    sendRequest(gateway.url, { ...messageOf('tools/list'), token, ...sent, headers: { ...headers, ...sent.headers } });
  return { organization, token, send, api: createApi(token) };
}

const { headers } = messageOf('tools/list');
const create = (title: string) => messageOf('tools/call', { name: 'create_task', arguments: { title } });

describe('POST /mcp', () => {
  it('responds with JSON, with the headers of the API', async () => {
    const { send } = await newOrganization();
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: 1 });
  });

  it('names the request id of the response in the error of a tool', async () => {
    const { send } = await newOrganization();
    const { headers: received, body } = await send(messageOf('tools/call', { name: 'create_task', arguments: {} }));
    expect(JSON.stringify(body)).toContain(received['X-Request-Id']);
  });

  it('responds with 401 and WWW-Authenticate to a request without a valid token', async () => {
    const { send } = await newOrganization();
    for (const token of ['', 'crew_x']) {
      const answer = await send({ token });
      expect(statusAndCodeOf(answer)).toEqual([401, 'unauthorized']);
      expect(answer.headers['WWW-Authenticate']).toBe('Bearer');
    }
  });

  it.each(['https://evil.example.com', 'null', 'http://127.0.0.1:3000'])(
    'responds with 403 to a web page of the origin %s, and changes nothing',
    async (origin) => {
      const { send, api } = await newOrganization();
      const answer = await send({ ...create('Draw'), headers: { origin } });
      expect(statusAndCodeOf(answer)).toEqual([403, 'origin_not_allowed']);
      expect(errorOf(answer).message).toContain('CORS_ORIGINS');
      expect(paginationOf(await api.listTasks()).total).toBe(0);
    },
  );

  it.each(['https://board.example.com', 'http://localhost:6274'])(
    'answers web pages of the allowed origin %s',
    async (origin) => {
      const { send } = await newOrganization();
      expect((await send({ headers: { origin } })).status).toBe(200);
    },
  );

  it('responds with 202 without a body to a notification', async () => {
    const { send } = await newOrganization();
    const answer = await send(messageOf('notifications/initialized', {}, null));
    expect([answer.status, answer.body]).toEqual([202, {}]);
  });

  it('responds with 400 to a list of messages, and calls none of them', async () => {
    const { send, api } = await newOrganization();
    const answer = await send({ body: [create('Draw').body, create('Build').body] });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: -32600, message: expect.stringContaining('one message') } });
    expect(paginationOf(await api.listTasks()).total).toBe(0);
  });

  it.each(['params', 'arguments', 'capabilities', 'id'])(
    'responds with 400 to a message that is nested deeply in %s, and names the limit',
    async (member) => {
      const { send } = await newOrganization();
      const deep = `${'{"a":['.repeat(20_000)}1${']}'.repeat(20_000)}`;
      const messages: Record<string, string> = {
        params: `"id":1,"method":"tools/list","params":${deep}`,
        arguments: `"id":1,"method":"tools/call","params":{"name":"create_task","arguments":${deep}}`,
        capabilities: `"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"a","version":"1"},"capabilities":{"experimental":${deep}}}`,
        id: `"method":"tools/list","id":${deep}`,
      };
      const answer = await send({ body: `{"jsonrpc":"2.0",${messages[member]}}` });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: { code: -32600, message: expect.stringContaining('1000 levels') } });
    },
  );

  it.each([
    ['what is not JSON', { body: '{' }, 400, -32700],
    ['another media type', { headers: { 'Content-Type': 'text/plain' } }, 415, -32000],
    ['an unknown revision', { headers: { 'mcp-protocol-version': '1999-01-01' } }, 400, -32000],
    ['a caller that accepts no JSON', { headers: { accept: 'text/html' } }, 406, -32000],
    ['a caller that accepts only a stream', { headers: { accept: 'text/event-stream' } }, 406, -32000],
    ['a caller that refuses JSON', { headers: { accept: '*/*, application/json;q=0' } }, 406, -32000],
  ])('responds with the error of the protocol to %s', async (_, sent: Partial<Sent>, status, code) => {
    const { send } = await newOrganization();
    const answer = await send(sent);
    expect([answer.status, answer.body]).toMatchObject([status, { error: { code } }]);
  });

  it.each(['tools=everything', 'tools=', 'tools=board&tools=all', 'tool=board'])(
    'responds with 400 to the query %s',
    async (query) => {
      const { send } = await newOrganization();
      expect(statusAndCodeOf(await send({ query }))).toEqual([400, 'validation_failed']);
    },
  );

  it('responds with 415 to a compressed message', async () => {
    const { send } = await newOrganization();
    const answer = await send({ headers: { 'content-encoding': 'gzip' } });
    expect(statusAndCodeOf(answer)).toEqual([415, 'unsupported_media_type']);
    expect(errorOf(answer).message).toContain('gzip');
  });

  it.each([
    ...['application/json', '*/*', 'application/*', 'text/html, *; q=.2', 'Application/JSON;q=0.5', ''],
    'text/event-stream, application/json; charset=utf-8',
  ])('answers a caller with Accept: %j', async (accept) => {
    const { send } = await newOrganization();
    const answer = await send({ ...messageOf('ping'), headers: { accept } });
    expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('answers a caller without Accept', async () => {
    const { token } = await newOrganization();
    const { accept, ...others } = headers as Record<string, string>;
    const answer = await call(serveMcp(mcp, {}), { ...messageOf('ping'), headers: others, token });
    expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it.each([
    ['tools/call', {}, 'params.name is required; send a string.'],
    ['tools/call', { name: 5 }, 'params.name must be a string.'],
    ['tools/call', { name: 'list_tasks', arguments: '{}' }, 'params.arguments must be an object.'],
    ['tools/call', { name: 'list_tasks', arguments: [] }, 'params.arguments must be an object.'],
    ['tools/call', undefined, 'params is required; send an object.'],
    ['tools/call', 'x', 'params must be an object.'],
    ['tools/list', ['x'], 'params must be an object.'],
    ['tools/list', { _meta: 5 }, 'params._meta must be an object.'],
    ['tools/list', { cursor: 5 }, 'params.cursor must be a string.'],
    ['resources/read', {}, 'params.uri is required; send a string.'],
    ['prompts/get', { name: 'work_on_next_task', arguments: { agent: 5 } }, 'params.arguments.agent must be a string.'],
    ['initialize', {}, 'params.protocolVersion is required; send a string.'],
  ])('answers %s with the parameters %j with -32602 and a sentence', async (method, params, message) => {
    const { send } = await newOrganization();
    const answer = await send({ body: { jsonrpc: '2.0', id: 'a', method, params } });
    expect([answer.status, answer.body]).toEqual([200, { jsonrpc: '2.0', id: 'a', error: { code: -32602, message } }]);
  });

  it.each(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])(
    'answers an unknown cursor of %s with -32602, and a cursor null with the list',
    async (method) => {
      const { send } = await newOrganization();
      for (const cursor of ['x', ''])
        expect((await send(messageOf(method, { cursor }))).body).toMatchObject({
          error: { code: -32602, message: expect.stringContaining('The cursor is unknown') },
        });
      const [whole, withNull] = [await send(messageOf(method)), await send(messageOf(method, { cursor: null }))];
      expect(whole.body).toHaveProperty('result');
      expect(withNull.body).toEqual(whole.body);
    },
  );

  it.each([
    ['ping', null],
    ['tools/list', { _meta: null }],
    ['tools/call', { name: 'list_tasks', arguments: null }],
    ['prompts/get', { name: 'work_on_next_task', arguments: null }],
    ['prompts/get', { name: 'work_on_next_task', arguments: { agent: null } }],
  ])('takes null in %s %j as left out', async (method, params) => {
    const { send } = await newOrganization();
    const { body } = await send({ body: { jsonrpc: '2.0', id: 1, method, params } });
    expect(body).toHaveProperty('result');
    expect(body).not.toHaveProperty('result.isError');
  });

  it('opens no stream of notifications: the method to subscribe is unknown', async () => {
    const { token } = await newOrganization();
    const client = await connect({ url: gateway.url, token }, { mode: { pin: '2026-07-28' } });
    await expect(client.listen({ toolsListChanged: true })).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/-32601.*There are no notifications to subscribe to/),
    });
  });

  it('counts each message as one request, and responds with 429 above the limit', async () => {
    const { organization, token } = await newCaller(processContext());
    const limited = contextFor({ [environment.requestsPerMinute]: '60' });
    const handler = serveMcp(mcp, {}, () => limited);
    const answers = [];
    for (let nth = 0; nth < 11; nth++) answers.push(await call(handler, { ...messageOf('tools/list'), token }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
    const last = answers.at(-1) as (typeof answers)[number];
    expect([errorOf(last).code, last.headers['Retry-After']]).toEqual(['rate_limited', expect.stringMatching(/^\d+$/)]);
    expect(limited.requestCounts.has(organization)).toBe(true);
  });

  it('counts a tool call once', async () => {
    const { token, organization } = await newCaller(processContext());
    pointFunctionsAt(service, { [environment.requestsPerMinute]: '60' });
    onTestFinished(() => {
      delete process.env[environment.requestsPerMinute];
      pointFunctionsAt(service);
    });
    const answer = await sendRequest(gateway.url, { ...create('Draw'), token });
    expect(answer.headers.RateLimit).toContain('r=9');
    expect(processContext().requestCounts.has(organization)).toBe(true);
  });

  it('costs a tool call the same requests to the table as its operation', async () => {
    const { send, api } = await newOrganization();
    // Without time, no token has to be read again.
    setProcessContext({ environment: process.env, clock: clockAt(Date.now()) });
    onTestFinished(() => pointFunctionsAt(service));
    const { costOf } = meter(processContext().table);
    await api.createTask({ body: { title: 'Draw' } });
    const overHttp = await costOf(() => api.createTask({ body: { title: 'Draw' } }));
    expect(overHttp.requests).toBeGreaterThan(0);
    expect(await costOf(() => send(create('Draw')))).toEqual(overHttp);
  });

  it('passes the Idempotency-Key on: a duplicate tool call gets the same result, and changes nothing', async () => {
    const { token, api } = await newOrganization();
    const key = { 'Idempotency-Key': 'once' };
    const client = await connect({ url: gateway.url, token }, { mode: 'auto' }, key);
    const first = await callTool(client, 'create_task', { title: 'Draw' });
    expect(await callTool(client, 'create_task', { title: 'Draw' })).toEqual(first);
    const other = await callTool(client, 'create_task', { title: 'Build' });
    expect(other).toMatchObject({ isError: true, error: { code: 'idempotency_key_reused' } });
    expect(paginationOf(await api.listTasks()).total).toBe(1);
  });

  it('names the seconds to wait in the error of a tool', async () => {
    const { token } = await newOrganization();
    const unavailable = {
      statusCode: 503,
      headers: { 'Retry-After': '7' },
      body: JSON.stringify({ success: false, error: { code: 'unavailable', message: 'm', requestId: 'r' } }),
    };
    const result = await resultOf({ listTasks: async () => unavailable }, token);
    expect(result).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: JSON.stringify({ error: { code: 'unavailable', message: 'm', requestId: 'r', retryAfterSeconds: 7 } }),
        },
      ],
    });
  });

  it('cuts a list to 64 KB, and says where the next entries are', async () => {
    const { token } = await newOrganization();
    const data = Array.from({ length: 100 }, (_, nth) => ({
      id: `tk_${nth}`,
      description: 'x'.repeat(10_000),
      a: Array(200).fill(nth),
    }));
    const body = JSON.stringify({ success: true, data, pagination: { limit: 100, offset: 0, total: 1_000 } });
    const { content } = (await resultOf({ listTasks: async () => ({ statusCode: 200, body }) }, token)) as {
      content: { text: string }[];
    };
    const { text } = content[0] as { text: string };
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
    const { data: shown, note } = JSON.parse(text) as { data: unknown[]; note: string };
    expect(shown.length).toBeGreaterThan(10);
    expect(note).toContain(
      `Only the first ${shown.length} of 100 entries are shown; increase offset by ${shown.length}`,
    );
  });

  it('turns a result that Lambda cannot return into an error of the tool', async () => {
    const { token } = await newOrganization();
    const large = async () => ({ statusCode: 200, body: JSON.stringify({ data: '"'.repeat(1_000_000) }) });
    const result = await resultOf({ listTasks: large }, token);
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('payload_too_large');
  });

  it('masks unexpected errors', async () => {
    const { token } = await newOrganization();
    const handlers: Handlers = {
      listTasks: () => Promise.reject(new Error('the name of a table')),
    };
    const answer = await call(serveMcp(mcp, handlers), { ...listTasks, token });
    expect(JSON.stringify(answer)).not.toContain('the name of a table');
    expect(answer.body).toMatchObject({ error: { code: -32603, message: expect.stringContaining('X-Request-Id') } });
  });
});

const listTasks = messageOf('tools/call', { name: 'list_tasks', arguments: {} });

/** Returns the result of `list_tasks` with other handlers. */
async function resultOf(handlers: Handlers, token: string): Promise<unknown> {
  const { body } = await call(serveMcp(mcp, handlers), { ...listTasks, token });
  return body.result;
}

/** Creates a context over the same table with other settings, in which no time passes. */
function contextFor(more: Record<string, string>): Context {
  return createContext({
    environment: { [environment.tableName]: service.tableName, ...more },
    clock: clockAt(Date.now()),
    table: service.table,
  });
}

describe.each(['GET', 'DELETE'])('%s /mcp', (method) => {
  it('responds with 405 and names POST: there are no sessions and no streams', async () => {
    const { token } = await newOrganization();
    const answer = await sendRequest(gateway.url, { method, path: '/mcp', token, headers });
    expect(statusAndCodeOf(answer)).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.Allow).toBe('POST');
  });
});
