import { describe, expect, it } from 'vitest';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import { closedPort, expectClosed, startReceiver } from './receiver.ts';
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
    'fails with %i, which the error names',
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

  it('makes a connection of its own, and leaves none open', async () => {
    const receiver = await startReceiver();
    await post(receiver.url);
    await post(receiver.url);
    expect(receiver.connections).toHaveLength(2);
    await expectClosed(receiver);
  });
});

describe('the body of an answer', () => {
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

  it('is not cut inside a character if exactly 16 KiB of a longer body came', async () => {
    const start = Buffer.from(`a${'é'.repeat(8_192)}`).subarray(0, 16 * 1024);
    const { url } = await startReceiver((response) => {
      response.writeHead(200, { 'Content-Length': 100_000 }).write(start);
    });
    expect((await post(url)).responseBody).toBe(`a${'é'.repeat(8_191)}`);
  });

  it('is not cut inside a character that is yet to come', async () => {
    const text = Buffer.from(`${'a'.repeat(16 * 1024 - 3)}🚀`);
    const { url } = await startReceiver((response) => {
      response.writeHead(200).write(text.subarray(0, 16 * 1024));
    });
    expect((await post(url)).responseBody).toBe('a'.repeat(16 * 1024 - 3));
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

  it('fails if the name does not exist', async () => {
    const outcome = await post(`https://${'x'.repeat(64)}.example/`);
    expect(outcome).toMatchObject({ httpStatus: 0, error: 'The name of the receiver could not be resolved.' });
  });
});
