import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';

const { url, token } = await startDeployment();
const { port } = new URL(url);
const auth = `Authorization: Bearer ${token}`;
const json = 'Content-Type: application/json';
const path = '/api/kanban-tasks';

type Reply = { status: number; head: string; body: string };

/** Sends bytes and reads until the service closes the connection. `then` can send more after the first response. */
function exchange(parts: (string | Buffer)[], then?: (came: string) => string | undefined): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    const chunks: Buffer[] = [];
    let answered = false;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const more = answered ? undefined : then?.(Buffer.concat(chunks).toString());
      if (more === undefined) return;
      answered = true;
      socket.write(more);
    });
    socket.setTimeout(15_000, () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
    socket.on('close', () => resolve(replyIn(Buffer.concat(chunks).toString())));
    for (const part of parts) socket.write(part);
  });
}

function replyIn(text: string): Reply {
  const [head = '', ...body] = text.replace('HTTP/1.1 100 Continue\r\n\r\n', '').split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: body.join('\r\n\r\n') };
}

/** Returns the head of a request after which the service closes the connection. */
function head(method: string, target: string, ...headers: string[]): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: crewboard', auth, ...headers, 'Connection: close', '', ''].join(
    '\r\n',
  );
}

const post = (body: string | Buffer, ...headers: string[]) =>
  exchange([head('POST', path, json, `Content-Length: ${Buffer.byteLength(body)}`, ...headers), body]);

it.each([
  '/api/kanban-tasks/%ZZ',
  '/api/kanban-tasks/%',
  '/api/kanban-tasks/%2F',
  '/api/kanban-tasks/%2f%2e%2e%2fwebhooks',
  '/api/kanban-tasks/%00',
  '/api/kanban-tasks/%ff%fe',
  '/api/kanban-tasks/%E0%A4%A',
  '/api/kanban-tasks/tk_01K00000000000000000000000%23x',
  '/api/kanban-tasks/tk_01K00000000000000000000000%2500',
  '/api/kanban-tasks/..',
  '/api/kanban-tasks/',
  '/api/kanban-tasks/__proto__',
  '/api//kanban-tasks',
  '//',
  '/',
  '//api/kanban-tasks',
  '/api/../health',
  '/API/kanban-tasks',
  '/%',
])('answers 404 in the envelope to GET %s', async (target) => {
  const { status, head: headers, body } = await exchange([head('GET', target)]);
  expect([status, JSON.parse(dechunked(headers, body)).error.code]).toEqual([404, 'not_found']);
});

it.each([
  '?limit=%ZZ',
  '?limit=%00',
  '?%',
  '?=',
  '?limit=1&limit=2',
  '?constructor=1',
  '?limit=1?offset=2',
  '?limit=１',
])('answers 400 to the query %s', async (query) => {
  const { status, head: headers, body } = await exchange([head('GET', encodeURI(path) + encodeOdd(query))]);
  expect([status, JSON.parse(dechunked(headers, body)).error.code]).toEqual([400, 'validation_failed']);
});

it('answers 405 with Allow and no body to HEAD, and 204 to OPTIONS', async () => {
  const asked = await exchange([head('HEAD', path)]);
  expect([asked.status, asked.body]).toEqual([405, '']);
  expect(asked.head).toMatch(/^Allow: GET, POST$/im);
  const options = await exchange([head('OPTIONS', path)]);
  expect([options.status, options.body]).toEqual([204, '']);
  expect(options.head).toMatch(/^Allow: GET, POST$/im);
  const unknown = await exchange([head('HEAD', '/nowhere')]);
  expect([unknown.status, unknown.body]).toEqual([404, '']);
});

it('answers 405 to methods that the path does not take', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND'])
    expect((await exchange([head(method, path)])).status).toBe(405);
});

it('takes a body of 256 KiB and refuses one of 300 KB with 413', async () => {
  const filled = (bytes: number) => JSON.stringify({ title: 'x'.repeat(bytes - 12) });
  const most = await post(filled(256 * 1024));
  expect([most.status, JSON.parse(dechunked(most.head, most.body)).error.code]).toEqual([400, 'validation_failed']);
  const over = await post(filled(300_000));
  expect([over.status, JSON.parse(dechunked(over.head, over.body)).error.code]).toEqual([413, 'payload_too_large']);
});

it('refuses 11 MB with 413, and still answers others', async () => {
  expect((await post(Buffer.alloc(11 * 1024 * 1024, ' '))).status).toBe(413);
  expect((await exchange([head('GET', '/health')])).status).toBe(200);
});

it('takes a body in chunks that split a character', async () => {
  const body = Buffer.from('{"title":"Grüße"}');
  const cut = body.indexOf(0xc3) + 1;
  const chunk = (part: Buffer) => [`${part.length.toString(16)}\r\n`, part, '\r\n'];
  const chunks = [...chunk(body.subarray(0, cut)), ...chunk(body.subarray(cut)), '0\r\n\r\n'];
  const reply = await exchange([head('POST', path, json, 'Transfer-Encoding: chunked'), ...chunks]);
  expect(reply.status).toBe(201);
  expect(JSON.parse(dechunked(reply.head, reply.body)).data.title).toBe('Grüße');
});

it('refuses a chunked body of 300 KB with 413', async () => {
  const body = 'x'.repeat(300_000);
  const chunks = [`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`];
  expect((await exchange([head('POST', path, json, 'Transfer-Encoding: chunked'), ...chunks])).status).toBe(413);
});

it.each([
  ['that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ['that is not UTF-8 in a text', Buffer.concat([Buffer.from('{"title":"'), Buffer.from([0xc3]), Buffer.from('"}')])],
  ['that breaks off', '{"title":'],
  ['of nothing but a brace', '{'],
  ['of white space', '  '],
])('answers 400 invalid_json to a body %s', async (_, body) => {
  const reply = await post(body);
  expect([reply.status, JSON.parse(dechunked(reply.head, reply.body)).error.code]).toEqual([400, 'invalid_json']);
});

it('responds with 100 to Expect: 100-continue, and then to the request', async () => {
  const body = '{"title":"Expected"}';
  const sent = head('POST', path, json, `Content-Length: ${body.length}`, 'Expect: 100-continue');
  const asked: string[] = [];
  const reply = await exchange([sent], (came) => {
    asked.push(came);
    return body;
  });
  expect(asked).toEqual(['HTTP/1.1 100 Continue\r\n\r\n']);
  expect(reply.status).toBe(201);
});

it('takes a request in single bytes', async () => {
  const body = '{"title":"Slow"}';
  const sent = head('POST', path, json, `Content-Length: ${body.length}`) + body;
  expect((await exchange([...sent])).status).toBe(201);
});

it('still responds after clients that close the connection during a request', async () => {
  for (let round = 0; round < 20; round++)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(`${head('POST', path, json, 'Content-Length: 1000')}{"title":`, () => socket.destroy());
      });
      socket.on('close', () => resolve());
    });
  expect((await exchange([head('GET', '/health')])).status).toBe(200);
});

/** Encodes characters above ASCII, as clients do. */
function encodeOdd(query: string): string {
  return query.replace(/[^\0-\x7f]+/g, encodeURIComponent);
}

/** Returns the text of a body in chunks. */
function dechunked(headers: string, body: string): string {
  if (!/^Transfer-Encoding: chunked$/im.test(headers)) return body;
  return body.replace(/(^|\r\n)[0-9a-f]+\r\n/gi, '');
}
