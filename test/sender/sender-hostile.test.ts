import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Sender } from '../../lib/sender/sender.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { expectClosed, flood, openedSockets, startSocket } from './receiver.ts';
import { createKeptConnections, createTestSender } from './test-sender.ts';

const allowed = readAllowedReceivers('127.0.0.1:*');
const sockets = openedSockets();

type Speak = (connection: Socket) => void;

/**
 * Posts to what speaks so, on a new connection and on a kept one, and holds every attempt to this: it is not the deadline that
 * ends it, all connections are closed on both sides, and it has opened one. Only a request on a kept connection that breaks
 * before the first byte is sent on a second one. Both attempts have the same outcome.
 */
async function attempt(speak: Speak, body = '{}') {
  const onNew = await attemptOnce(createTestSender(allowed), await startSocket(speak), body);
  const { connections, end } = createKeptConnections();
  const send = createTestSender(allowed, { connections });
  let accepted = 0;
  const kept = await startSocket((connection) => {
    if (++accepted > 1) return speak(connection);
    connection.once('data', () => {
      connection.write('HTTP/1.1 204 No Content\r\n\r\n');
      connection.once('data', (data) => {
        speak(connection);
        connection.emit('data', data);
      });
    });
  });
  await send({ url: kept.url, headers: {}, body: '{}' });
  expect(connections.idle).toHaveLength(1);
  const onKept = await attemptOnce(send, kept, body, end);
  const comparable = ({ httpStatus, responseBody, responseHeaders, error }: typeof onNew.outcome) => {
    return { httpStatus, responseBody, responseHeaders, error };
  };
  expect(comparable(onKept.outcome)).toEqual(comparable(onNew.outcome));
  expect([onNew.opened, onKept.opened]).toEqual([1, onKept.bytesOfKept > 0 ? 0 : 1]);
  return onNew.outcome;
}

/** Posts to a receiver, and returns the outcome, the number of opened connections, and how much came on the one before. */
async function attemptOnce(
  send: Sender,
  receiver: Awaited<ReturnType<typeof startSocket>>,
  body: string,
  end = () => {},
) {
  const [opened, last] = [sockets.length, sockets.at(-1)];
  const readBefore = last?.bytesRead ?? 0;
  const outcome = await send({ url: receiver.url, headers: {}, body });
  end();
  expect(outcome.timedOut).toBe(false);
  expect(outcome.error?.length ?? 0).toBeLessThan(120);
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  await expectClosed(receiver);
  return { outcome, opened: sockets.length - opened, bytesOfKept: (last?.bytesRead ?? 0) - readBefore };
}

const failed = (error: string) => ({ httpStatus: 0, responseBody: '', error });
const answered = (httpStatus: number, responseBody = '') => ({ httpStatus, responseBody });

const success = 'HTTP/1.1 200 OK\r\n';
const chunked = `${success}Transfer-Encoding: chunked\r\n\r\n`;
const interim = 'HTTP/1.1 102 Processing\r\n\r\n';
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';

/** Breaks a connection off with a reset, once what was written to it has been read. */
function resetWhenRead(connection: Socket, text: string): void {
  const sender = sockets.find(({ localPort }) => localPort === connection.remotePort);
  sender?.on('data', () => setImmediate(() => connection.resetAndDestroy()));
  connection.write(text);
}

describe('a connection that breaks before its answer', () => {
  const brokenOff = failed('The connection failed: the receiver broke it off.');
  const closed = failed('The connection failed: the receiver closed it before its answer.');

  it.each<[string, Speak, object]>([
    ['by a reset when it is taken', (connection) => connection.resetAndDestroy(), brokenOff],
    ['by a reset amid the headers', (connection) => resetWhenRead(connection, `${success}X-Long: `), brokenOff],
    ['by its end when it is taken', (connection) => connection.end(), closed],
    ['by its end when the request was read', (connection) => connection.once('data', () => connection.end()), closed],
    ['by its end amid the status line', (connection) => connection.end('HTTP/1.1 20'), closed],
    ['by its end amid the headers', (connection) => connection.end(`${success}Content-Le`), closed],
    ['by its end amid interim answers', (connection) => connection.end(interim), closed],
  ])('%s fails', async (_, speak, outcome) => {
    expect(await attempt(speak)).toMatchObject(outcome);
  });
});

describe('an answer that breaks off behind its headers', () => {
  const headers = `${success}Content-Length: 100\r\n\r\n`;

  it.each<[string, Speak, string]>([
    ['by a reset', (connection) => resetWhenRead(connection, `${headers}a start`), 'a start'],
    ['with fewer bytes than it claims', (connection) => connection.end(`${headers}a start`), 'a start'],
    ['with no byte of what it claims', (connection) => connection.end(headers), ''],
    ['with a chunk that has no length', (connection) => connection.end(`${chunked}length\r\n`), ''],
  ])('%s stays a success', async (_, speak, start) => {
    const outcome = await attempt(speak);
    expect(outcome).toMatchObject(answered(200, start));
    expect(outcome).not.toHaveProperty('error');
  });
});

describe('an answer that is not HTTP', () => {
  it.each([
    ['bytes of no meaning', Buffer.from([0, 255, 1, 254, 13, 10, 13, 10])],
    ['a greeting of another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a page without headers', '<!doctype html><title>Well</title>'],
    ['an alert of TLS', Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46])],
    ['a frame of HTTP/2', Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])],
    ['a status that is no number', 'HTTP/1.1 OK\r\n\r\n'],
    ['a length below nothing', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a length beyond all numbers', `HTTP/1.1 200 OK\r\nContent-Length: 1${'0'.repeat(30)}\r\n\r\n`],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na'],
    ['a status below 100', 'HTTP/1.1 000 No\r\n\r\n'],
    ['a switch to no protocol', 'HTTP/1.1 101 Odd\r\n\r\n'],
    ['a version that is none', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['an interim answer of a version that is none', `HTTP/9.9 103 Hints\r\n\r\n${success}\r\n`],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nNonsense\r\n\r\n'],
  ])('fails: %s', async (_, text) => {
    const outcome = await attempt((connection) => connection.write(text));
    expect(outcome).toMatchObject(failed('What the receiver answered is not HTTP.'));
  });
});

describe('an unusual answer', () => {
  it.each([
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nwell', answered(200, 'well')],
    ['of HTTP/1.0 without headers', 'HTTP/1.0 204 No Content\r\n\r\n', answered(204)],
    ['of HTTP/1.0 that failed', 'HTTP/1.0 500 No\r\n\r\n', { httpStatus: 500, error: 'The receiver answered 500.' }],
    ['of an unknown status', 'HTTP/1.1 999 \r\n\r\n', { httpStatus: 999, error: 'The receiver answered 999.' }],
    ['behind early hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 \r\n\r\n', answered(204)],
  ])('counts: %s', async (_, text, outcome) => {
    expect(await attempt((connection) => connection.end(text))).toMatchObject(outcome);
  });

  const kept = 'Connection: keep-alive\r\nKeep-Alive: timeout=1000\r\nContent-Length: 4\r\n\r\nwell';
  const answers = 'Content-Length: 1\r\n\r\naHTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\nb';
  const switched = failed('The receiver switched to another protocol, which it was not asked for.');
  it.each([
    ['counts though its connection is to be kept', success + kept, answered(200, 'well')],
    ['that another follows counts, and the other does not', success + answers, answered(200, 'a')],
    ['fails where it switches to another protocol', upgrade, switched],
  ])('%s', async (_, text, outcome) => {
    expect(await attempt((connection) => connection.write(text))).toMatchObject(outcome);
  });

  it.each([202, 413])('counts though the request is never read: %i', async (status) => {
    const speak = (connection: Socket) => {
      connection.pause();
      connection.write(`HTTP/1.1 ${status} \r\nContent-Length: 0\r\n\r\n`);
    };
    expect(await attempt(speak, 'a'.repeat(32 * 1024 * 1024))).toMatchObject({ httpStatus: status });
  });

  it('fails where it switches to another protocol and sends too much at the same time', async () => {
    const start = interim.repeat(2_400);
    const outcome = await attempt((connection) => {
      const sender = sockets.find(({ localPort }) => localPort === connection.remotePort);
      const readBefore = sender?.bytesRead ?? 0;
      sender?.on('data', () => {
        if (sender.bytesRead - readBefore === start.length) connection.write(upgrade + 'x'.repeat(10_000));
      });
      connection.write(start);
    });
    expect(outcome).toMatchObject(switched);
  });
});

describe('an answer without an end', () => {
  const tooLong = failed('The receiver sent more than 64 KiB and no answer in it.');
  const gigabyte = 'Content-Length: 1000000000\r\n\r\n';
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  const headersTooLong = failed('The headers of the answer are over 64 KiB.');

  // Little is read, nothing is unpacked, and so the memory of an attempt is bounded too.
  it.each<[string, string, string | Buffer, object]>([
    ['one header', 'HTTP/1.1 200 OK\r\nX-Long: ', 'x', headersTooLong],
    ['headers', 'HTTP/1.1 200 OK\r\n', 'X-Short: x\r\n', headersTooLong],
    ['a status line', 'HTTP/1.1 200 ', 'x', headersTooLong],
    ['interim answers', '', 'HTTP/1.1 102 Processing\r\n\r\n', tooLong],
    ['empty lines', '', '\r\n', tooLong],
    ['the framing of a chunk', `${chunked}1;`, 'x', answered(200)],
    ['a body', 'HTTP/1.1 200 OK\r\n\r\n', 'x', answered(200, 'x'.repeat(16 * 1024))],
    ['a body behind a failure', 'HTTP/1.1 500 No\r\n\r\n', 'x', answered(500, 'x'.repeat(16 * 1024))],
    ['a body of a gigabyte', success + gigabyte, 'x', answered(200, 'x'.repeat(16 * 1024))],
    ['a body of a gigabyte behind a failure', `HTTP/1.1 503 No\r\n${gigabyte}`, 'x', { httpStatus: 503 }],
    ['a gzip bomb', `${success}Content-Encoding: gzip\r\n${gigabyte}`, bomb, { httpStatus: 200 }],
    ['a body of little chunks', chunked, '1\r\nx\r\n', answered(200, 'x'.repeat(16 * 1024))],
  ])('is read to a bound and no further: %s', async (_, start, more, outcome) => {
    const speak = (connection: Socket) => {
      connection.write(start);
      flood(connection, more);
    };
    expect(await attempt(speak)).toMatchObject(outcome);
    // The bound, and what a socket reads at once.
    expect(sockets.at(-1)?.bytesRead).toBeLessThanOrEqual((256 + 64) * 1024);
  });
});

describe('a body', () => {
  it('is not unpacked', async () => {
    const packed = gzipSync('a'.repeat(10_000_000));
    const { httpStatus, responseBody } = await attempt((connection) => {
      connection.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
      connection.write(packed);
    });
    expect(httpStatus).toBe(200);
    expect(responseBody).toBe(startOf(new TextDecoder('utf-8', { ignoreBOM: true }).decode(packed)));
  });

  it('that is no text fits the limit as one', async () => {
    const { responseBody } = await attempt((connection) => {
      connection.write('HTTP/1.1 200 OK\r\n\r\n');
      connection.end(Buffer.alloc(16 * 1024, 0xff));
    });
    expect(responseBody).toBe('\ufffd'.repeat(Math.floor((16 * 1024) / 3)));
  });
});

/** As much of a text as 16 KiB of UTF-8 hold. */
function startOf(text: string): string {
  const characters = [...text];
  while (Buffer.byteLength(characters.join('')) > 16 * 1024) characters.pop();
  return characters.join('');
}
