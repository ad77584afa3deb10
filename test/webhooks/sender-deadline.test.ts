import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { allowedReceivers } from '../../lib/webhooks/receivers.ts';
import { openSender } from '../../lib/webhooks/sender.ts';
import { drip, expectClosed, openedSockets, startReceiver, startSocket } from './receiver.ts';

const timeoutMs = 150;
const send = openSender(allowedReceivers('127.0.0.1:*'), { timeoutMs });
const sockets = openedSockets();
const late = { httpStatus: 0, timedOut: true, responseBody: '', error: 'No answer within 0.15 s.' };

/** Posts to a receiver and holds the attempt to this: it lasts to its deadline, and leaves no connection behind. */
async function attempt(receiver: { url: string; connections: Socket[] }) {
  const outcome = await send({ url: receiver.url, headers: {}, body: '{}' });
  expect(outcome.durationMs / timeoutMs).toBeGreaterThan(0.9);
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  await expectClosed(receiver);
  expect(receiver.connections).toHaveLength(1);
  return outcome;
}

describe('the deadline', () => {
  it('ends an attempt that gets no answer', async () => {
    const receiver = await startReceiver(() => {});
    expect(await attempt(receiver)).toMatchObject(late);
    expect(receiver.received).toHaveLength(1);
  });

  it('ends an attempt whose connection is taken in silence', async () => {
    expect(await attempt(await startSocket())).toMatchObject(late);
  });

  it('ends an attempt whose request is never read', async () => {
    const { url } = await startSocket((connection) => connection.pause());
    expect(await send({ url, headers: {}, body: 'a'.repeat(32 * 1024 * 1024) })).toMatchObject(late);
  });

  it('ends an attempt whose TLS is never agreed on', async () => {
    const receiver = await startSocket();
    expect(await attempt({ ...receiver, url: `https://127.0.0.1:${receiver.port}/` })).toMatchObject(late);
  });

  it('ends an attempt whose TLS drips', async () => {
    const receiver = await startSocket((connection) => {
      // A record of the handshake that claims 16 KiB.
      connection.write(Buffer.from([0x16, 3, 3, 0x40, 0]));
      drip(connection, '\x02');
    });
    expect(await attempt({ ...receiver, url: `https://127.0.0.1:${receiver.port}/` })).toMatchObject(late);
  });

  it.each([
    ['status line drips', 'HTTP/1.1 200 ', 'x'],
    ['headers drip', 'HTTP/1.1 200 OK\r\nX-Long: ', 'x'],
    ['headers never end', 'HTTP/1.1 200 OK\r\nX-Short: x\r\n', ''],
    ['interim answers drip', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('ends an attempt whose %s', async (_, start, more) => {
    const receiver = await startSocket((connection) => {
      connection.write(start);
      if (more) drip(connection, more);
    });
    expect(await attempt(receiver)).toMatchObject(late);
  });

  it.each([
    ['drips', 'HTTP/1.1 200 OK\r\n\r\nx', 'x', /^x+$/],
    ['drips in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n', '1\r\nx\r\n', /^x+$/],
    ['never comes', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', '', /^$/],
    ['stops short', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na start', '', /^a start$/],
  ])('ends a body that %s, which is a success since its headers came', async (_, start, more, responseBody) => {
    const receiver = await startSocket((connection) => {
      connection.write(start);
      if (more) drip(connection, more);
    });
    const outcome = await attempt(receiver);
    expect(outcome).toMatchObject({ httpStatus: 200, timedOut: true });
    expect(outcome.responseBody).toMatch(responseBody);
    expect(outcome).not.toHaveProperty('error');
  });

  it('ends a body that drips behind a failure, which stays one with its status', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(503);
      drip(response, 'x');
    });
    const error = 'The receiver answered 503.';
    expect(await attempt(receiver)).toMatchObject({ httpStatus: 503, timedOut: true, error });
  });

  it('of one attempt is not met by another that is answered', async () => {
    const hanging = await startReceiver(() => {});
    const answering = await startReceiver();
    const [late, well] = await Promise.all(
      [hanging, answering].map(({ url }) => send({ url, headers: {}, body: '{}' })),
    );
    expect(late).toMatchObject({ httpStatus: 0, timedOut: true });
    expect(well).toMatchObject({ httpStatus: 204, timedOut: false });
  });
});
