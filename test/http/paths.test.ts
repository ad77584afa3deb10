import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../infra/local/gateway.ts';
import { readConsole } from '../../lib/http/console/console-files.ts';
import { createTaskCallers } from '../functions/kanban-tasks/task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const gateway = await startGateway(0);
const board = await newTaskCaller();
const { url } = gateway;
const port = Number(new URL(url).port);
const path = '/api/kanban-tasks';

afterAll(() => gateway.stop());

type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** Returns the head of a request after which the gateway closes the connection. */
function headOf(method: string, target: string, more: readonly string[]): string {
  const fixed = ['Host: localhost', 'Connection: close', `Authorization: Bearer ${board.token}`];
  return `${[`${method} ${target} HTTP/1.1`, ...fixed, ...more].join('\r\n')}\r\n\r\n`;
}

/** Writes bytes to a socket, since clients reject such requests, and returns the response. */
function exchange(...parts: (string | Buffer)[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
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

function send(method: string, target: string, more: string[] = [], body: string | Buffer = ''): Promise<RawAnswer> {
  return exchange(headOf(method, target, [`Content-Length: ${Buffer.byteLength(body)}`, ...more]), body);
}

/** Sends a create with this body, and with further headers instead of the length. */
const create = (body: (string | Buffer)[], ...more: string[]) =>
  exchange(headOf('POST', path, ['Content-Type: application/json', ...more]), ...body);

const codeOf = ({ body }: RawAnswer) => /"code":"(\w+)"/.exec(body)?.[1];

describe('an unusual path leads to 404 not_found at the gateway', () => {
  it.each([
    ...['%ZZ', '%', '%2e%2e', '../health', '%2Fhealth', '%2f%2e%2e%2fwebhooks', '%00', '%ff', '%C3%28', '%23'],
    ...['%F0%9F%98%80', 'tk_01K00000000000000000000000%2500', '__proto__', ':id', '..', 'x'.repeat(10_240)],
  ])('/api/kanban-tasks/%.40s', async (id) => {
    const answer = await send('GET', `${path}/${id}`);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.body).toContain(answer.headers['x-request-id']);
  });

  it.each([
    ...['//api/kanban-tasks', '/api/../health', '//', '/%', '/%5c..%5c', '/api/kanban-tasks%3Flimit=1'],
    ...[`/${'x'.repeat(10_240)}`, 'http://localhost/nothing'],
  ])('%.40s', async (target) => {
    const answer = await send('GET', target);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
  });
});

describe('at the gateway', () => {
  it('a path is decoded once', async () => {
    const id = await board.put();
    const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    expect((await send('GET', `${path}/${encoded}`)).status).toBe(200);
    expect((await send('GET', `${path}/${encoded.replaceAll('%', '%25')}`)).status).toBe(404);
  });

  it.each([
    ...['limit=%', 'limit=%ZZ', 'status=%00', 'a=%ff', '%=1', 'limit=5&limit=5', 'limit=', '=&=', '%'],
    ...['limit=5?limit=6', 'constructor=1', 'limit=%EF%BC%91'],
  ])('the query %s leads to 400', async (query) => {
    const answer = await send('GET', `${path}?${query}`);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed']);
  });

  it('an empty query is no query', async () => {
    for (const query of ['?', '?&', '?&&&']) expect((await send('GET', path + query)).status).toBe(200);
  });

  it('an unsupported method leads to 405', async () => {
    for (const [method, target] of [['PUT', `${path}/%ZZ`] as const, ['PROPFIND', path] as const]) {
      const answer = await send(method, target);
      expect([answer.status, codeOf(answer)]).toEqual([405, 'method_not_allowed']);
    }
  });

  it.each([
    ...['PATCH', 'DELETE'].map((method) => [method, `${path}/counts`, 'GET']),
    ...['GET', 'PATCH', 'DELETE'].map((method) => [method, '/api/webhooks/register', 'POST']),
    ...['PATCH', 'DELETE'].map((method) => [method, '/api/webhooks/events', 'GET']),
  ] as [string, string, string][])('%s of the fixed path %s leads to 405 with Allow', async (method, target, allow) => {
    const answer = await send(method, target);
    expect([answer.status, answer.headers.allow, codeOf(answer)]).toEqual([405, allow, 'method_not_allowed']);
  });

  it.each(['executions', 'skills'])(
    'an agent named %s, which cannot be, is not found by other methods',
    async (name) => {
      for (const method of ['PATCH', 'DELETE']) expect((await send(method, `/api/agents/${name}`)).status).toBe(404);
    },
  );

  it.each([
    [path, 405, 'GET, POST'],
    ['/mcp', 405, 'POST'],
    ['/nowhere', 404, undefined],
  ] as const)('HEAD of %s leads to %i without a body', async (target, status, allow) => {
    const answer = await send('HEAD', target);
    expect([answer.status, answer.headers.allow, answer.body]).toEqual([status, allow, '']);
  });

  it.each(['/health', '/', '/docs', '/docs/script.js', '/openapi.json', '/assets/icon'])(
    'HEAD of %s has the headers of GET, and no body',
    async (open) => {
      const target = open === '/assets/icon' ? `/assets/${(await readConsole()).icon}` : open;
      for (const more of [[], ['Accept-Encoding: gzip']]) {
        const [get, head] = [await send('GET', target, more), await send('HEAD', target, more)];
        const ofGet = { ...get.headers, date: head.headers.date, 'x-request-id': head.headers['x-request-id'] };
        // The result of a health check in another file of this process counts for a few seconds.
        const status = open === '/health' ? get.status : 200;
        expect([head.status, head.headers, head.body]).toEqual([status, ofGet, '']);
        expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
      }
    },
  );

  it('a target in absolute form is that of its path', async () => {
    const page = `${url}/docs`;
    for (const target of [page, page.toUpperCase().replace('/DOCS', '/docs'), `${url}${path}?limit=1`, `${url}?`])
      expect([target, (await send('GET', target)).status]).toEqual([target, 200]);
    for (const target of ['http://page.example.com/health', 'http://page.example.com?x'])
      expect([target, (await send('GET', target)).status]).toEqual([target, 403]);
  });

  it('the metrics of all executions are not those of an agent named executions', async () => {
    const metrics = '/api/agents/executions/metrics';
    const answer = await send('GET', `${metrics}?period=7d`);
    expect([answer.status, JSON.parse(answer.body).data.series.length]).toEqual([200, 7]);
    expect((await send('GET', '/api/agents/skills/metrics')).status).toBe(404);
    for (const [method, status] of [
      ['OPTIONS', 204],
      ['POST', 405],
    ] as const) {
      const { headers, ...other } = await send(method, metrics);
      expect([other.status, headers.allow]).toEqual([status, 'GET']);
    }
  });

  it('OPTIONS leads to 204 with Allow and without a body', async () => {
    const answer = await send('OPTIONS', `${path}/%ZZ`);
    expect([answer.status, answer.headers.allow, answer.body]).toEqual([204, 'DELETE, GET, PATCH', '']);
  });

  it('two Authorization headers lead to 401', async () => {
    const answer = await send('GET', path, [`Authorization: Bearer ${board.token}`]);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'unauthorized']);
  });

  it('a body that is not UTF-8 leads to invalid_json', async () => {
    const body = Buffer.from([0x22, 0xff, 0xfe, 0x22]);
    const answer = await create([body], `Content-Length: ${body.length}`);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_json']);
  });

  it('a body can come in chunks that split a character', async () => {
    const body = Buffer.from('{"title":"Grüße"}');
    const cut = body.indexOf(0xc3) + 1;
    const chunks = [body.subarray(0, cut), body.subarray(cut)].flatMap((part) => [
      `${part.length.toString(16)}\r\n`,
      part,
      '\r\n',
    ]);
    const answer = await create([...chunks, '0\r\n\r\n'], 'Transfer-Encoding: chunked');
    expect(answer.status).toBe(201);
    expect(answer.body).toContain('Grüße');
  });

  it('a chunked body of 300 KB leads to 413', async () => {
    const chunk = `${(300_000).toString(16)}\r\n${'x'.repeat(300_000)}\r\n0\r\n\r\n`;
    expect((await create([chunk], 'Transfer-Encoding: chunked')).status).toBe(413);
  });

  it('Expect: 100-continue gets 100, and then the response', async () => {
    const body = '{"title":"Expected"}';
    const answer = await create([body], `Content-Length: ${body.length}`, 'Expect: 100-continue');
    expect([answer.status, answer.body.startsWith('HTTP/1.1 201')]).toEqual([100, true]);
  });

  it('a request can come in single bytes', async () => {
    const body = '{"title":"Slow"}';
    const head = headOf('POST', path, ['Content-Type: application/json', `Content-Length: ${body.length}`]);
    expect((await exchange(...head, ...body)).status).toBe(201);
  });

  it('other requests are processed after clients that close the connection during a request', async () => {
    for (let round = 0; round < 20; round++)
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(`${headOf('POST', path, ['Content-Length: 1000'])}{"title":`, () => socket.destroy());
        });
        socket.on('close', () => resolve());
      });
    // Not /health, which looks at a table that other tests of this process may have closed.
    expect((await send('GET', '/openapi.json')).status).toBe(200);
  });
});
