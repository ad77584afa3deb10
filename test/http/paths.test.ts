import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../infra/local/gateway.ts';
import { createTaskCallers } from '../functions/kanban-tasks/task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const gateway = await startGateway(0);
const board = await newTaskCaller();
const port = Number(new URL(gateway.url).port);

afterAll(() => gateway.stop());

type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** Sends a request over a raw socket, since clients reject such paths. */
function sendRaw(method: string, target: string, more: string[] = [], body: string | Buffer = ''): Promise<RawAnswer> {
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${board.token}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...more,
  ];
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      socket.write(body);
    });
    socket.on('error', reject);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      const [top = '', ...rest] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
      const [line = '', ...fields] = top.split('\r\n');
      const headers = fields.map((field) => field.split(': ') as [string, string]);
      resolve({
        status: Number(line.split(' ')[1]),
        headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
        body: rest.join('\r\n\r\n'),
      });
    });
  });
}

const codeOf = (answer: RawAnswer) => /"code":"(\w+)"/.exec(answer.body)?.[1];

describe('an unusual path leads to 404 not_found at the gateway', () => {
  it.each([
    '/api/kanban-tasks/%ZZ',
    '/api/kanban-tasks/%',
    '/api/kanban-tasks/%2e%2e',
    '/api/kanban-tasks/../health',
    '/api/kanban-tasks/%2Fhealth',
    '/api/kanban-tasks/%00',
    '/api/kanban-tasks/%ff',
    '/api/kanban-tasks/%C3%28',
    '/api/kanban-tasks/%F0%9F%98%80',
    '/api/kanban-tasks/%23',
    '/api/kanban-tasks/__proto__',
    '/api/kanban-tasks/:id',
    '/api/kanban-tasks//',
    '//api/kanban-tasks',
    '//',
    '/%',
    '/%5c..%5c',
    '/api/kanban-tasks%3Flimit=1',
  ])('%s', async (target) => {
    const answer = await sendRaw('GET', target);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.body).toContain(answer.headers['x-request-id']);
  });

  it.each(['/api/kanban-tasks/', '/'])('of 10 KB after %s', async (start) => {
    const answer = await sendRaw('GET', start + 'x'.repeat(10_240));
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
  });

  it('in absolute form, as for proxies', async () => {
    expect((await sendRaw('GET', 'http://localhost/nothing')).status).toBe(404);
  });
});

describe('at the gateway', () => {
  it('a path is decoded once', async () => {
    const id = await board.put();
    const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    expect((await sendRaw('GET', `/api/kanban-tasks/${encoded}`)).status).toBe(200);
    expect((await sendRaw('GET', `/api/kanban-tasks/${encoded.replaceAll('%', '%25')}`)).status).toBe(404);
  });

  it('malformed percent-encoding in a query leads to 400', async () => {
    for (const query of ['limit=%', 'limit=%ZZ', 'status=%00', 'a=%ff', '%=1', 'limit=5&limit=5', 'limit=', '=&='])
      expect((await sendRaw('GET', `/api/kanban-tasks?${query}`)).status).toBe(400);
  });

  it('an empty query is no query', async () => {
    for (const query of ['?', '?&', '?&&&'])
      expect((await sendRaw('GET', `/api/kanban-tasks${query}`)).status).toBe(200);
  });

  it('a second question mark belongs to the query', async () => {
    const answer = await sendRaw('GET', '/api/kanban-tasks?limit=5?limit=6');
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed']);
  });

  it('an unsupported method leads to 405, without a body for HEAD', async () => {
    const [put, head] = [await sendRaw('PUT', '/api/kanban-tasks/%ZZ'), await sendRaw('HEAD', '/api/kanban-tasks')];
    expect([put.status, codeOf(put)]).toEqual([405, 'method_not_allowed']);
    expect([head.status, head.headers.allow, head.body]).toEqual([405, 'GET, POST', '']);
  });

  it.each(['/health', '/openapi.json', '/docs', '/docs/script.js'])(
    'HEAD of the open endpoint %s leads to 405 too',
    async (target) => {
      const { status, headers, body } = await sendRaw('HEAD', target);
      expect([status, headers.allow, body]).toEqual([405, 'GET', '']);
    },
  );

  it('OPTIONS leads to 204 with Allow and without a body', async () => {
    const answer = await sendRaw('OPTIONS', '/api/kanban-tasks/%ZZ');
    expect([answer.status, answer.headers.allow, answer.body]).toEqual([204, 'DELETE, GET, PATCH', '']);
  });

  it('a body that is not UTF-8 leads to invalid_json', async () => {
    const body = Buffer.from([0x22, 0xff, 0xfe, 0x22]);
    const answer = await sendRaw('POST', '/api/kanban-tasks', ['Content-Type: application/json'], body);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_json']);
  });

  it('two Authorization headers lead to 401', async () => {
    const answer = await sendRaw('GET', '/api/kanban-tasks', [`Authorization: Bearer ${board.token}`]);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'unauthorized']);
  });
});
