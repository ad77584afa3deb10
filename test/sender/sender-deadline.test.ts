import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { createManualTimers } from './manual-timers.ts';
import { closedPort, drip, expectClosed, openedSockets, startReceiver, startSocket } from './receiver.ts';
import { createTestSender, late } from './test-sender.ts';

const { startTimer, timers } = createManualTimers();
const send = createTestSender(readAllowedReceivers('127.0.0.1:*'), { startTimer });
const sockets = openedSockets();

/** What the sender's end of the newest connection without TLS has read. */
const bytesRead = () => sockets.at(-1)?.bytesRead ?? 0;

/** Waits until an attempt has reached a state before its deadline. */
const until = (reached: () => unknown) => vi.waitUntil(reached, { interval: 1, timeout: 15_000 });

/**
 * Posts to a receiver, fires the deadline once the attempt has reached a state, and expects that only the deadline ends the
 * attempt and that no connection remains.
 */
async function attempt(receiver: { url: string; connections: Socket[] }, reached: () => unknown, body = '{}') {
  let over = false;
  const opened = sockets.length;
  const ended = send({ url: receiver.url, headers: {}, body }).finally(() => {
    over = true;
  });
  await until(() => receiver.connections.length > 0 && reached());
  expect(over).toBe(false);
  timers.at(-1)?.fire();
  const outcome = await ended;
  expect(sockets.slice(opened).every(({ destroyed }) => destroyed)).toBe(true);
  await expectClosed(receiver);
  expect(receiver.connections).toHaveLength(1);
  return outcome;
}

/** Something that writes a start and then, if there is more, that again and again. */
const speaking = (start: string | Buffer, more: string) =>
  startSocket((connection) => {
    connection.write(start);
    if (more) drip(connection, more);
  });

describe('the deadline', () => {
  it('is set once an attempt, to 10 s, and stopped when it is answered or fails before', async () => {
    const { url } = await startReceiver();
    const before = timers.length;
    expect(await send({ url, headers: {}, body: '{}' })).toMatchObject({ httpStatus: 204 });
    await send({ url: `http://127.0.0.1:${await closedPort()}/`, headers: {}, body: '{}' });
    expect(timers.slice(before)).toMatchObject(Array(2).fill({ afterMs: 10_000, stopped: true }));
  });

  it('ends an attempt that gets no answer', async () => {
    const receiver = await startReceiver(() => {});
    expect(await attempt(receiver, () => receiver.received.length > 0)).toMatchObject(late);
    expect(receiver.received).toHaveLength(1);
  });

  it('ends an attempt whose connection is taken in silence', async () => {
    expect(await attempt(await startSocket(), () => sockets.at(-1)?.bytesWritten)).toMatchObject(late);
  });

  it('ends an attempt whose request is never read', async () => {
    const receiver = await startSocket((connection) => connection.pause());
    const stuck = () => sockets.at(-1)?.writableNeedDrain;
    expect(await attempt(receiver, stuck, 'a'.repeat(32 * 1024 * 1024))).toMatchObject(late);
  });

  it.each([
    ['is never agreed on', '', ''],
    // A record of the handshake that claims 16 KiB.
    ['drips', Buffer.from([0x16, 3, 3, 0x40, 0]), '\x02'],
  ])('ends an attempt whose TLS %s', async (_, start, more) => {
    const receiver = await speaking(start, more);
    const reached = () => {
      const { bytesWritten = 0, bytesRead = 0 } = receiver.connections[0] ?? {};
      return more ? bytesWritten > 8 : bytesRead;
    };
    expect(await attempt({ ...receiver, url: receiver.url.replace('http:', 'https:') }, reached)).toMatchObject(late);
  });

  it.each([
    ['status line drips', 'HTTP/1.1 200 ', 'x'],
    ['headers drip', 'HTTP/1.1 200 OK\r\nX-Long: ', 'x'],
    ['headers never end', 'HTTP/1.1 200 OK\r\nX-Short: x\r\n', ''],
    ['interim answers drip', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('ends an attempt whose %s', async (_, start, more) => {
    const receiver = await speaking(start, more);
    expect(await attempt(receiver, () => bytesRead() >= start.length + 3 * more.length)).toMatchObject(late);
  });

  it.each([
    ['drips', 'HTTP/1.1 200 OK\r\n\r\nx', 'x', /^x{3,}$/],
    ['drips in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n', '1\r\nx\r\n', /^x{3,}$/],
    ['never comes', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', '', /^$/],
    ['stops short', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na start', '', /^a start$/],
    ['drips behind a failure', 'HTTP/1.1 503 No\r\n\r\nx', 'x', /^x{3,}$/],
  ])('ends a body that %s; the attempt has the status of its headers', async (_, start, more, responseBody) => {
    const receiver = await speaking(start, more);
    const outcome = await attempt(receiver, () => bytesRead() >= start.length + 3 * more.length);
    const failure = start.includes('503') && { error: 'The receiver answered 503.' };
    const httpStatus = failure ? 503 : 200;
    expect(outcome.error).toBe(failure ? failure.error : undefined);
    expect(outcome).toMatchObject({
      httpStatus,
      timedOut: true,
      responseBody: expect.stringMatching(responseBody),
      responseCut: true,
    });
  });

  it('of one attempt does not end another one', async () => {
    const [hanging, answering] = [await startReceiver(() => {}), await startReceiver()];
    const before = timers.length;
    const [first, second] = [hanging, answering].map(({ url }) => send({ url, headers: {}, body: '{}' }));
    await until(() => hanging.received.length > 0);
    timers[before]?.fire();
    expect(await first).toMatchObject(late);
    expect(await second).toMatchObject({ httpStatus: 204, timedOut: false });
  });
});
