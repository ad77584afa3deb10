import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../lib/webhooks/allowed-receivers.ts';
import { closedPort, expectClosed, startReceiver, startSocket } from './receiver.ts';
import { createTestSender } from './test-sender.ts';

const send = createTestSender(readAllowedReceivers('127.0.0.1:*'));
const post = (url: string) => send({ url, headers: { 'X-Service-Event': 'task.created' }, body: '{"event":"x"}' });

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

  it.each([200, 201, 202, 204, 299])('succeeds with %i', async (status) => {
    const { url } = await startReceiver((response) => response.writeHead(status).end());
    expect(await post(url)).toEqual({
      httpStatus: status,
      durationMs: expect.any(Number),
      timedOut: false,
      responseBody: '',
    });
  });

  it.each([300, 301, 304, 400, 401, 404, 410, 418, 429, 500, 503, 599])(
    'fails with %i, which it tells',
    async (status) => {
      const { url } = await startReceiver((response) => response.writeHead(status).end());
      const outcome = await post(url);
      expect(outcome.httpStatus).toBe(status);
      expect(outcome.error).toBe(`The receiver answered ${status}.`);
    },
  );

  it.each([301, 302, 303, 307, 308])('does not follow a redirect: %i is a failure with its status', async (status) => {
    const elsewhere = await startReceiver();
    const { url, received } = await startReceiver((response) =>
      response.writeHead(status, { Location: elsewhere.url }).end('moved'),
    );
    expect(await post(url)).toMatchObject({ httpStatus: status, responseBody: 'moved' });
    expect(received).toHaveLength(1);
    expect(elsewhere.connections).toHaveLength(0);
  });

  it('gives what the receiver answered, with a failure too', async () => {
    const { url } = await startReceiver((response) => response.writeHead(500).end('out of order'));
    expect(await post(url)).toMatchObject({ httpStatus: 500, responseBody: 'out of order' });
  });

  it('waits past an interim answer', async () => {
    const { url } = await startReceiver((response) => {
      response.writeProcessing();
      response.writeHead(202).end();
    });
    expect(await post(url)).toMatchObject({ httpStatus: 202 });
  });

  it('makes a connection of its own, and leaves none open', async () => {
    const receiver = await startReceiver();
    await post(receiver.url);
    await post(receiver.url);
    expect(receiver.connections).toHaveLength(2);
    await expectClosed(receiver);
  });

  it('leaves no clock running', async () => {
    const { url } = await startSocket((connection) => connection.end('HTTP/1.1 204 \r\n\r\n'));
    const clocks = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    await post(url);
    const before = clocks();
    for (let count = 0; count < 20; count++) await post(url);
    expect(clocks() - before).toBeLessThan(10);
  });
});

describe('the body of an answer', () => {
  it('is cut at 16 KiB', async () => {
    const { url } = await startReceiver((response) => response.writeHead(200).end('a'.repeat(1024 * 1024)));
    const { responseBody, error } = await post(url);
    expect(responseBody).toBe('a'.repeat(16 * 1024));
    expect(error).toBeUndefined();
  });

  it('is whole at exactly 16 KiB', async () => {
    const { url } = await startReceiver((response) => response.writeHead(200).end('a'.repeat(16 * 1024)));
    expect((await post(url)).responseBody).toBe('a'.repeat(16 * 1024));
  });

  it('is not cut inside a character', async () => {
    const { url } = await startReceiver((response) => response.writeHead(200).end(`a${'é'.repeat(16 * 1024)}`));
    const { responseBody } = await post(url);
    expect(responseBody).toBe(`a${'é'.repeat(8 * 1024 - 1)}`);
    expect(Buffer.byteLength(responseBody)).toBeLessThanOrEqual(16 * 1024);
  });

  it('is not cut inside a character that is yet to come', async () => {
    const text = Buffer.from(`${'a'.repeat(16 * 1024 - 3)}🚀`);
    const { url } = await startReceiver((response) => {
      response.writeHead(200).write(text.subarray(0, 16 * 1024));
    });
    expect((await post(url)).responseBody).toBe('a'.repeat(16 * 1024 - 3));
  });

  it('that never ends is dropped behind its start, and not waited for', async () => {
    const { url } = await startReceiver((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('a'.repeat(1024)));
      };
      response.on('drain', more);
      more();
    });
    const { httpStatus, responseBody, timedOut } = await post(url);
    expect([httpStatus, responseBody.length, timedOut]).toEqual([200, 16 * 1024, false]);
  });

  it('that breaks off does not undo a success', async () => {
    const { url } = await startReceiver((response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('a start', () => response.destroy());
    });
    expect(await post(url)).toMatchObject({ httpStatus: 200, responseBody: 'a start' });
    expect(await post(url)).not.toHaveProperty('error');
  });
});

describe('an attempt that gets no answer', () => {
  it('fails with status 0 if nothing listens', async () => {
    const port = await closedPort();
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({
      httpStatus: 0,
      durationMs: expect.any(Number),
      timedOut: false,
      responseBody: '',
      error: 'The receiver refused the connection.',
    });
  });

  it('fails where the receiver hangs up', async () => {
    const { url } = await startReceiver((response) => response.destroy());
    expect(await post(url)).toMatchObject({
      httpStatus: 0,
      error: 'The connection failed: the receiver closed it before its answer.',
    });
  });

  it('fails if the name does not exist', async () => {
    const outcome = await post(`https://${'x'.repeat(64)}.example/`);
    expect(outcome).toMatchObject({ httpStatus: 0, error: 'The name of the receiver could not be resolved.' });
  });
});
