import { request } from 'node:http';
import { connect } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, expect, it, vi } from 'vitest';
import * as functions from '../../../infra/local/functions.ts';
import { startGateway } from '../../../infra/local/gateway.ts';
import { requestsInTurn } from '../../../infra/local/request-turns.ts';
import { Problem } from '../../../infra/problem.ts';

/** Returns a handler that returns its event and context. */
async function loadTestHandler(folder: string, file: string): Promise<functions.Handler> {
  return async (given, context) => {
    const event = given as APIGatewayProxyEventV2;
    noteBegin();
    if (event.headers['x-fail']) throw new Error('for the test');
    if (event.headers['x-large']) return { statusCode: 200, body: '\u0001'.repeat(Number(event.headers['x-large'])) };
    const { functionName, awsRequestId } = context;
    const called = { handler: `${folder}/${file}`, event, functionName, awsRequestId };
    const text = JSON.stringify({ ...called, remainingMs: context.getRemainingTimeInMillis() });
    const isBase64Encoded = event.headers['x-bytes'] !== undefined;
    const body = isBase64Encoded ? bytes.toString('base64') : text;
    return { statusCode: 299, headers: { 'X-Made-By': 'handler' }, body, isBase64Encoded };
  };
}

/** The numbers of handlers that were called in one turn of the event loop. */
const begunInTurns: number[] = [];
let begunInTurn = 0;

function noteBegin(): void {
  if (begunInTurn === 0)
    setImmediate(() => {
      begunInTurns.push(begunInTurn);
      begunInTurn = 0;
    });
  begunInTurn += 1;
}

type Called = {
  handler: string;
  event: APIGatewayProxyEventV2;
  functionName: string;
  awsRequestId: string;
  remainingMs: number;
};

const bytes = Buffer.from([0, 0xff, 0xfe, 1]);
const tasks = '/api/kanban-tasks';
vi.spyOn(functions, 'loadHandler').mockImplementation(loadTestHandler);
const gateway = await startGateway(0);
afterAll(() => gateway.stop());

type Sent = { headers?: Record<string, string | string[]>; body?: Buffer };

/** Sends a request with exactly this path, which other clients would normalize. */
function send(method: string, path: string, { headers = {}, body }: Sent = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const { port } = new URL(gateway.url);
    const sending = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, async (answer) => {
      const body = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
      resolve({ status: answer.statusCode as number, headers: answer.headers, body });
    });
    sending.on('error', reject).end(body);
  });
}

const called = async (method: string, path: string, sent?: Sent): Promise<Called> =>
  JSON.parse((await send(method, path, sent)).body.toString()) as Called;

it('calls the function of the endpoint with an event of API Gateway', async () => {
  const path = `${tasks}/tk_01K00000000000000000000000`;
  const body = '{"title":"Grüße"}';
  const headers = { 'content-type': 'application/json', 'user-agent': 'me' };
  const { handler, event, functionName } = await called('PATCH', `${path}?a=1`, { headers, body: Buffer.from(body) });
  expect([handler, functionName]).toEqual(['kanban-tasks/update-task', 'updateTask']);
  const http = { method: 'PATCH', path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'me' };
  const routeKey = `PATCH ${tasks}/{id}`;
  expect(event).toMatchObject({
    ...{ version: '2.0', routeKey, rawPath: path, rawQueryString: 'a=1', headers, body, isBase64Encoded: false },
    pathParameters: { id: 'tk_01K00000000000000000000000' },
    requestContext: { routeKey, stage: '$default', http },
  });
});

it('begins a few of many requests in a turn, so that deliveries go on in between', async () => {
  begunInTurns.length = 0;
  const { port } = new URL(gateway.url);
  const socket = connect(Number(port), '127.0.0.1');
  // All of them arrive at once, and the last one ends the connection.
  const heads = Array.from({ length: 3 * requestsInTurn }, (_, nth) => [
    'GET /health HTTP/1.1',
    `Host: 127.0.0.${nth}`,
  ]);
  heads.at(-1)?.push('Connection: close');
  socket.write(heads.map((lines) => `${lines.join('\r\n')}\r\n\r\n`).join(''));
  const answers = Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString();
  expect(answers.match(/HTTP\/1\.1 299/g)).toHaveLength(3 * requestsInTurn);
  // The first turn has requests that begin on their arrival, and the first ones that have waited.
  expect(Math.max(...begunInTurns)).toBeLessThanOrEqual(2 * requestsInTurn);
});

it('passes on the status, the headers and the body of the function, with its length in bytes', async () => {
  const answer = await send('GET', `${tasks}/%C3%BC`);
  expect(answer).toMatchObject({ status: 299, headers: { 'x-made-by': 'handler' } });
  expect(answer.headers['content-length']).toBe(String(answer.body.length));
  expect(answer.headers).not.toHaveProperty('transfer-encoding');
  expect(await send('GET', '/health', { headers: { 'X-Bytes': 'yes' } })).toMatchObject({ status: 299, body: bytes });
});

it('joins repeated headers with commas, and keeps headers that are named like properties of every object', async () => {
  const { event } = await called('GET', '/health', { headers: { 'X-Many': ['a', 'b'], __proto__x: '1', Accept: 'q' } });
  expect(event.headers).toMatchObject({ 'x-many': 'a,b', __proto__x: '1', accept: 'q' });
});

it.each(['x=%2F+%ZZ&x=2&&y?z=1', ''])('passes on the query string %j unchanged', async (query) => {
  expect((await called('GET', `${tasks}?${query}`)).event.rawQueryString).toBe(query);
});

it.each([
  ['a%20b', 'a b'],
  ['a%2525', 'a%25'],
  ['%C3%BC', 'ü'],
  ['%00', '\0'],
  ['a+b', 'a+b'],
  // These cannot be decoded.
  ['%ZZ', '%ZZ'],
  ['%ff', '%ff'],
])('decodes the path %s once', async (encoded, id) => {
  expect((await called('GET', `${tasks}/${encoded}`)).event.rawPath).toBe(`${tasks}/${id}`);
});

it.each([
  ['a binary body in base64', bytes, bytes.toString('base64'), true],
  ['no body if there is none', undefined, undefined, false],
  ['a byte order mark', Buffer.from('\ufeff{}'), '\ufeff{}', false],
])('passes on %s', async (_, body, passedOn, isBase64Encoded) => {
  const { event } = await called('POST', tasks, { body });
  expect([event.body, event.isBase64Encoded]).toEqual([passedOn, isBase64Encoded]);
});

it.each<[string, string, string, string, object?]>([
  ['POST', '/api/webhooks/register', 'webhooks/register-webhook', 'POST /api/webhooks/register', {}],
  ['GET', '/api/webhooks/register', 'webhooks/get-webhook', 'GET /api/webhooks/{id}', { id: 'register' }],
  ['GET', '/api/webhooks/%20/deliveries', 'webhooks/list-deliveries', 'GET /api/webhooks/{id}/deliveries', { id: ' ' }],
  ['GET', '/docs/script.js', 'open/docs', 'GET /docs/script.js', {}],
  ...[`GET ${tasks}/`, 'GET /api//kanban-tasks', `PUT ${tasks}`, `OPTIONS ${tasks}`, 'GET /API/kanban-tasks', 'GET /%']
    .concat(`GET ${tasks}/a/b`)
    .map((request) => [...request.split(' '), 'open/unmatched', '$default'] as [string, string, string, string]),
])('routes %s %s to %s as %s', async (method, path, handler, routeKey, params) => {
  const found = await called(method, path);
  expect([found.handler, found.event.routeKey, found.event.pathParameters]).toEqual([handler, routeKey, params]);
});

it('gives each call its own context with the remaining time', async () => {
  const [one, two] = [await called('GET', '/health'), await called('GET', '/health')];
  expect(one.awsRequestId).not.toBe(two.awsRequestId);
  expect(one.event.requestContext.requestId).not.toBe(two.event.requestContext.requestId);
  expect(one.remainingMs).toBeGreaterThan(20_000);
  expect(one.remainingMs).toBeLessThanOrEqual(29_000);
});

it.each([
  // A control character takes 6 bytes of the 6 MiB.
  ['for a response over the limit of Lambda, as AWS does', { 'X-Large': '1048576' }],
  ['for a function that throws, as API Gateway does, without the error', { 'X-Fail': 'yes' }],
])('answers 500 %s', async (_, headers) => {
  const { status, body } = await send('GET', '/health', { headers });
  expect([status, body.toString()]).toEqual([500, '{"message":"Internal Server Error"}']);
  expect((await send('GET', '/health', { headers: { 'X-Large': '1048000' } })).status).toBe(200);
});

it('rejects a body over 10 MB without calling a function', async () => {
  // The handler returns a few bytes here: with the request body, its response would be too large.
  const answer = (length: number) => send('POST', tasks, { headers: { 'X-Bytes': 'yes' }, body: Buffer.alloc(length) });
  expect((await answer(10 * 1024 * 1024)).status).toBe(299);
  const { status, body } = await answer(10 * 1024 * 1024 + 1);
  expect([status, body.toString()]).toEqual([413, '{"message":"Request Too Long"}']);
});

it('rejects a request for another host without calling a function, and names the setting that allows it', async () => {
  const { status, body } = await send('POST', tasks, { headers: { Host: 'page.example.com:3000' } });
  const message =
    'This service is not reached as page.example.com:3000; use 127.0.0.1, or add the origin to CORS_ORIGINS.';
  expect([status, JSON.parse(body.toString())]).toEqual([403, { message }]);
});

it('reports that its port is in use', async () => {
  const { port } = new URL(gateway.url);
  const sentence = `Port ${port} is in use; stop the other program, or set PORT to a free port.`;
  await expect(startGateway(Number(port))).rejects.toThrow(new Problem(sentence));
});

it('stops although a client keeps its connection open', async () => {
  const other = await startGateway(0);
  await (await fetch(`${other.url}/health`)).text();
  await other.stop();
  await expect(fetch(`${other.url}/health`)).rejects.toThrow();
});
