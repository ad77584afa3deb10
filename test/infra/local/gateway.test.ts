import { request } from 'node:http';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { afterAll, expect, it, vi } from 'vitest';
import { startGateway } from '../../../infra/local/gateway.ts';
import { Problem } from '../../../infra/local/problem.ts';

/** Replaces the functions by handlers that return their event and context. */
vi.mock('../../../infra/local/functions.ts', async (importActual) => ({
  ...(await importActual<object>()),
  loadHandler: async (folder: string, file: string) => async (event: APIGatewayProxyEventV2, context: Context) => {
    if (event.headers['x-fail']) throw new Error('for the test');
    if (event.headers['x-large']) return { statusCode: 200, body: '\u0001'.repeat(Number(event.headers['x-large'])) };
    const { functionName, awsRequestId } = context;
    const called = { handler: `${folder}/${file}`, event, functionName, awsRequestId };
    const text = JSON.stringify({ ...called, remainingMs: context.getRemainingTimeInMillis() });
    const isBase64Encoded = event.headers['x-bytes'] !== undefined;
    const body = isBase64Encoded ? Buffer.from([0, 0xff, 0xfe, 1]).toString('base64') : text;
    return { statusCode: 299, headers: { 'X-Made-By': 'handler' }, body, isBase64Encoded };
  },
}));

type Called = {
  handler: string;
  event: APIGatewayProxyEventV2;
  functionName: string;
  awsRequestId: string;
  remainingMs: number;
};

let changes = 0;
const gateway = await startGateway(0, () => {
  changes += 1;
});
afterAll(() => gateway.stop());

type Sent = { headers?: Record<string, string | string[]>; body?: Buffer };

/** Sends a request with exactly this path, which other clients would normalize. */
function send(method: string, path: string, { headers = {}, body }: Sent = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>((resolve, reject) => {
    const { port } = new URL(gateway.url);
    const sending = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, async (answer) => {
      const bytes = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
      resolve({ status: answer.statusCode as number, headers: answer.headers, bytes });
    });
    sending.on('error', reject).end(body);
  });
}

const called = async (method: string, path: string, sent?: Sent): Promise<Called> =>
  JSON.parse((await send(method, path, sent)).bytes.toString()) as Called;

it('calls the function of the endpoint with an event of API Gateway', async () => {
  const id = 'tk_01K00000000000000000000000';
  const { handler, event, functionName } = await called('PATCH', `/api/kanban-tasks/${id}?a=1`, {
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'me' },
    body: Buffer.from('{"title":"Grüße"}'),
  });
  expect([handler, functionName]).toEqual(['kanban-tasks/update-task', 'updateTask']);
  expect(event).toMatchObject({
    version: '2.0',
    routeKey: 'PATCH /api/kanban-tasks/{id}',
    rawPath: `/api/kanban-tasks/${id}`,
    rawQueryString: 'a=1',
    pathParameters: { id },
    headers: { 'content-type': 'application/json', 'user-agent': 'me' },
    body: '{"title":"Grüße"}',
    isBase64Encoded: false,
    requestContext: {
      routeKey: 'PATCH /api/kanban-tasks/{id}',
      stage: '$default',
      http: {
        method: 'PATCH',
        path: `/api/kanban-tasks/${id}`,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: 'me',
      },
    },
  });
});

it('passes on the status and the headers of the function', async () => {
  const answer = await send('GET', '/api/kanban-tasks');
  expect([answer.status, answer.headers['x-made-by']]).toEqual([299, 'handler']);
});

it('passes on the bytes that the function returns in base64', async () => {
  const answer = await send('GET', '/health', { headers: { 'X-Bytes': 'yes' } });
  expect([answer.status, answer.bytes]).toEqual([299, Buffer.from([0, 0xff, 0xfe, 1])]);
});

it('sends the length of the body in bytes', async () => {
  const { headers, bytes } = await send('GET', '/api/kanban-tasks/%C3%BC');
  expect([headers['content-length'], headers['transfer-encoding']]).toEqual([String(bytes.length), undefined]);
});

it('joins repeated headers with commas, and keeps headers that are named like properties of every object', async () => {
  const { event } = await called('GET', '/health', { headers: { 'X-Many': ['a', 'b'], __proto__x: '1', Accept: 'q' } });
  expect(event.headers).toMatchObject({ 'x-many': 'a,b', __proto__x: '1', accept: 'q' });
});

it('passes on the query string unchanged', async () => {
  const { event } = await called('GET', '/api/kanban-tasks?x=%2F+%ZZ&x=2&&y?z=1');
  expect(event.rawQueryString).toBe('x=%2F+%ZZ&x=2&&y?z=1');
  expect((await called('GET', '/health')).event.rawQueryString).toBe('');
});

it.each([
  ['/api/kanban-tasks/a%20b', 'a b'],
  ['/api/kanban-tasks/a%2525', 'a%25'],
  ['/api/kanban-tasks/%C3%BC', 'ü'],
  ['/api/kanban-tasks/%00', '\0'],
  ['/api/kanban-tasks/a+b', 'a+b'],
])('decodes the path %s once', async (path, id) => {
  const { handler, event } = await called('GET', path);
  expect([handler, event.pathParameters]).toEqual(['kanban-tasks/get-task', { id }]);
  expect(event.rawPath).toBe(`/api/kanban-tasks/${id}`);
});

it.each(['/api/kanban-tasks/%ZZ', '/api/kanban-tasks/%ff', '/%'])('passes on the path %s undecoded', async (path) => {
  expect((await called('GET', path)).event.rawPath).toBe(path);
});

it('passes on a binary body in base64', async () => {
  const body = Buffer.from([0, 0xff, 0xfe, 1]);
  const { event } = await called('POST', '/api/kanban-tasks', { body });
  expect([event.body, event.isBase64Encoded]).toEqual([body.toString('base64'), true]);
});

it('passes on no body if there is none, and keeps a byte order mark', async () => {
  const none = await called('POST', '/api/kanban-tasks');
  expect(none.event).not.toHaveProperty('body');
  expect(none.event.isBase64Encoded).toBe(false);
  const marked = await called('POST', '/api/kanban-tasks', { body: Buffer.from('\ufeff{}') });
  const { body = '', isBase64Encoded } = marked.event;
  expect(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')).toEqual(Buffer.from('\ufeff{}'));
});

it.each([
  ['POST', '/api/webhooks/register', 'webhooks/register-webhook'],
  ['GET', '/api/webhooks/register', 'webhooks/get-webhook'],
  ['GET', '/api/webhooks/x/deliveries', 'webhooks/list-deliveries'],
  ['GET', '/health', 'open/health'],
  ['GET', '/docs/script.js', 'open/docs-script'],
])('routes %s %s to %s', async (method, path, handler) => {
  expect((await called(method, path)).handler).toBe(handler);
});

it.each([
  ['GET', '/api/kanban-tasks/'],
  ['GET', '/api//kanban-tasks'],
  ['PUT', '/api/kanban-tasks'],
  ['OPTIONS', '/api/kanban-tasks'],
  ['GET', '/API/kanban-tasks'],
  ['GET', '/api/kanban-tasks/a/b'],
])('routes %s %s to the $default function, without path parameters', async (method, path) => {
  const { handler, event } = await called(method, path);
  expect([handler, event.routeKey]).toEqual(['open/unmatched', '$default']);
  expect(event).not.toHaveProperty('pathParameters');
});

it('gives each call its own context with the remaining time', async () => {
  const [one, two] = [await called('GET', '/health'), await called('GET', '/health')];
  expect(one.awsRequestId).not.toBe(two.awsRequestId);
  expect(one.event.requestContext.requestId).not.toBe(two.event.requestContext.requestId);
  expect(one.remainingMs).toBeGreaterThan(20_000);
  expect(one.remainingMs).toBeLessThanOrEqual(29_000);
});

it('answers 500 for a response over the limit of Lambda, as AWS does', async () => {
  // A control character takes 6 bytes of the 6 MiB.
  const answer = (characters: number) => send('GET', '/health', { headers: { 'X-Large': `${characters}` } });
  expect((await answer(1_048_000)).status).toBe(200);
  const { status, bytes } = await answer(1_048_576);
  expect([status, bytes.toString()]).toEqual([500, '{"message":"Internal Server Error"}']);
});

it('answers 500 for a function that throws, as API Gateway does, without the error', async () => {
  const { status, bytes } = await send('GET', '/health', { headers: { 'X-Fail': 'yes' } });
  expect([status, bytes.toString()]).toEqual([500, '{"message":"Internal Server Error"}']);
});

it('rejects a body over 10 MB without calling a function', async () => {
  // The handler returns a few bytes here: with the request body, its response would be too large.
  const headers = { 'X-Bytes': 'yes' };
  const most = await send('POST', '/api/kanban-tasks', { headers, body: Buffer.alloc(10 * 1024 * 1024, ' ') });
  expect(most.status).toBe(299);
  const over = await send('POST', '/api/kanban-tasks', { body: Buffer.alloc(10 * 1024 * 1024 + 1, ' ') });
  expect([over.status, over.bytes.toString()]).toEqual([413, '{"message":"Request Too Long"}']);
});

it('signals a change after every request except GET', async () => {
  const signalled = async (...sent: Parameters<typeof send>) => {
    const before = changes;
    await send(...sent);
    return changes - before;
  };
  expect(await signalled('POST', '/api/kanban-tasks')).toBe(1);
  expect(await signalled('POST', '/api/kanban-tasks', { headers: { 'X-Fail': 'yes' } })).toBe(1);
  expect(await signalled('GET', '/api/kanban-tasks')).toBe(0);
  expect(await signalled('POST', '/nowhere')).toBe(0);
});

it('reports that its port is in use', async () => {
  const { port } = new URL(gateway.url);
  await expect(startGateway(Number(port))).rejects.toThrow(Problem);
  await expect(startGateway(Number(port))).rejects.toThrow(`Port ${port} is in use`);
});

it('stops although a client keeps its connection open', async () => {
  const other = await startGateway(0);
  await (await fetch(`${other.url}/health`)).text();
  await other.stop();
  await expect(fetch(`${other.url}/health`)).rejects.toThrow();
});
