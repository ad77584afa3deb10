import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { deliveryHeaders } from '../../lib/sender/signature.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { closedPort, expectClosed, startReceiver, startSocket } from './receiver.ts';
import { createTestSender, unresolved } from './test-sender.ts';

const send = createTestSender(readAllowedReceivers('127.0.0.1:*'));
const post = (url: string) => send({ url, headers: { 'X-Service-Event': 'task.created' }, body: '{"event":"x"}' });
/** What an attempt without a body in its answer returns. */
const plain = { timedOut: false, responseBody: '', address: '127.0.0.1' };

describe('an attempt', () => {
  it('posts the headers and the body as they are', async () => {
    const { url, received } = await startReceiver();
    const headers = { 'Content-Type': 'application/json', 'X-Service-Event': 'task.created' };
    await send({ url: `${url}?a=b%20c#d`, headers, body: '{"title":"Grüße 🚀"}' });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      method: 'POST',
      path: '/hooks?a=b%20c',
      headers: { 'content-type': 'application/json', 'x-service-event': 'task.created' },
    });
    expect(received[0]?.raw).toEqual(Buffer.from('{"title":"Grüße 🚀"}', 'utf8'));
  });

  it('begins with the host, and accepts any type but no coding', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { url, port } = await startSocket((connection) => {
      connection.once('data', (data) => {
        resolve(String(data));
        connection.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    const body = '{}';
    const headers = deliveryHeaders({ event: 'task.created', deliveryId: 'dlv_1', sentAt: 0, body }, 'a secret');
    await send({ url, headers, body });
    const [line, ...lines] = (await promise).split('\r\n');
    expect([line, lines[0]]).toEqual(['POST /hooks HTTP/1.1', `Host: 127.0.0.1:${port}`]);
    expect(lines.filter((one) => /^(host|accept)/i.test(one)).slice(1)).toEqual([
      'Accept: */*',
      'Accept-Encoding: identity',
    ]);
  });

  it.each([200, 204, 299, 300, 304, 400, 410, 599])('succeeds or fails with its status: %i', async (status) => {
    const { url } = await startReceiver((response) => response.writeHead(status).end());
    const outcome = await post(url);
    expect(outcome).toMatchObject({ ...plain, httpStatus: status, responseCut: false });
    expect(outcome.error).toBe(status >= 300 ? `The receiver answered ${status}.` : undefined);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect: %i is a failure with its status', async (status) => {
    const elsewhere = await startReceiver();
    const { url, received } = await startReceiver((response) =>
      response.writeHead(status, { Location: elsewhere.url }).end('moved'),
    );
    expect(await post(url)).toMatchObject({ httpStatus: status, responseBody: 'moved' });
    expect(received).toHaveLength(1);
    expect(elsewhere.connections).toHaveLength(0);
  });

  it('makes a connection of its own, and leaves none open', async () => {
    const receiver = await startReceiver();
    await post(receiver.url);
    await post(receiver.url);
    expect(receiver.connections).toHaveLength(2);
    await expectClosed(receiver);
  });
});

it('the headers of an answer are returned in their order, with duplicates', async () => {
  const { url } = await startReceiver((response) =>
    response.writeHead(200, ['X-A', '1', 'Set-Cookie', 'a=1', 'x-a', '2', '__proto__', 'x']).end(),
  );
  const own = (await post(url)).responseHeaders?.filter(([name]) => /^(x-a|set-cookie|__proto__)$/i.test(name));
  expect(own).toEqual(Object.entries({ 'X-A': '1', 'Set-Cookie': 'a=1', 'x-a': '2', ['__proto__']: 'x' }));
});

/** Keeps the connection of an answer open behind its start. */
const withoutEnd = (headers: object, start: Buffer) => (response: ServerResponse) => {
  response.writeHead(200, { ...headers }).write(start);
};
const limit = 16 * 1024;

it.each<[string, (response: ServerResponse) => void, string]>([
  ['whole at exactly 16 KiB', (response) => response.end('a'.repeat(limit)), 'a'.repeat(limit)],
  ['not cut inside a character', (response) => response.end(`a${'é'.repeat(limit)}`), `a${'é'.repeat(8_191)}`],
  [
    'not cut inside a character if exactly 16 KiB of a longer body came',
    withoutEnd({ 'Content-Length': 100_000 }, Buffer.from(`a${'é'.repeat(8_192)}`).subarray(0, limit)),
    `a${'é'.repeat(8_191)}`,
  ],
  [
    'not cut inside a character that is yet to come',
    withoutEnd({}, Buffer.from(`${'a'.repeat(limit - 3)}🚀`).subarray(0, limit)),
    'a'.repeat(limit - 3),
  ],
])('the body of an answer is %s', async (_, answer, responseBody) => {
  expect((await post((await startReceiver(answer)).url)).responseBody).toBe(responseBody);
});

describe('an attempt that gets no answer', () => {
  it('fails with status 0 if nothing listens', async () => {
    const error = 'The receiver refused the connection.';
    const outcome = await post(`http://127.0.0.1:${await closedPort()}/`);
    expect(outcome).toMatchObject({ ...plain, httpStatus: 0, phases: {}, error });
    expect(outcome.responseHeaders).toBeUndefined();
  });

  it('fails if the name does not exist', async () => {
    expect(await post(`https://${'x'.repeat(64)}.example/`)).toMatchObject(unresolved);
  });
});
