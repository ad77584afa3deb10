import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { endSharing, idleMs, leaveConnection } from '../../lib/sender/kept-connections.ts';
import type { Resolve } from '../../lib/sender/lookup.ts';
import { readAllowedReceivers } from '../../lib/settings/allowed-receivers.ts';
import { dangerousAddresses, publicAddresses, specialEnds } from './addresses/special-addresses.ts';
import { stopDials } from './dials.ts';
import { createManualTimers } from './manual-timers.ts';
import { expectClosed, openedSockets, pem, startAnswering, startSocket, startTls } from './receiver.ts';
import { createKeptConnections, createTestResolver, createTestSender, late, unresolved } from './test-sender.ts';

const sockets = openedSockets();
afterEach(() => vi.restoreAllMocks());
afterEach(() => vi.useRealTimers());

const success = 'HTTP/1.1 200 OK\r\n';
const saying = (body: string) => `${success}Content-Length: ${body.length}\r\n\r\n${body}`;
const good = saying('good');

/** Starts a receiver that writes one text after the other, and `good` after the last one. */
const startWith = (...texts: string[]) =>
  startAnswering((connection, nth) => connection.write(Buffer.from(texts[nth - 1] ?? good, 'latin1')));

/** Returns a function that posts as the attempts of one webhook, of which one is always in progress. */
function createKeeping({ allowed = '127.0.0.1:*', resolve }: { allowed?: string; resolve?: Resolve } = {}) {
  const { all, connections } = createKeptConnections();
  const { startTimer, timers } = createManualTimers();
  const send = createTestSender(readAllowedReceivers(allowed), { startTimer, connections, resolve });
  const post = (url: string, body = '{}') => send({ url, headers: {}, body });
  const end = () => endSharing(all, 'wh_1');
  return { all, connections, timers, startTimer, post, end };
}

const answered = (responseBody: string) => ({ httpStatus: 200, responseBody, timedOut: false });

/** Waits until the sender has closed the newest connection, which may not be idle any more. */
const untilClosed = () => vi.waitUntil(() => sockets.at(-1)?.destroyed, { interval: 1, timeout: 15_000 });

describe('a kept connection', () => {
  it('carries twenty attempts, which ask for it until no other attempt is in progress', async () => {
    // Together more than the limit of a response.
    const body = 'x'.repeat(16_000);
    const receiver = await startAnswering((connection) => connection.write(saying(body)));
    const { post, end } = createKeeping();
    const listeners: object[] = [];
    for (let nth = 0; nth < 20; nth++) {
      if (nth === 19) end();
      expect(await post(receiver.url)).toMatchObject({ ...answered(body), address: '127.0.0.1' });
      const socket = sockets.at(-1) as Socket;
      listeners.push(Object.fromEntries(socket.eventNames().map((name) => [name, socket.listenerCount(name)])));
    }
    expect(listeners.slice(1, 19)).toEqual(Array(18).fill(listeners[0]));
    expect(receiver.connections).toHaveLength(1);
    const asked = receiver.heads.map((head) => /^Connection: (.*)\r$/m.exec(head)?.[1]);
    expect(asked).toEqual([...Array(19).fill('keep-alive'), 'close']);
    await expectClosed(receiver);
  });

  it('is closed when the last attempt of its webhook ends', async () => {
    const receiver = await startWith();
    const { all, post, end } = createKeeping();
    await post(receiver.url);
    end();
    expect(sockets.at(-1)?.destroyed).toBe(false);
    end();
    await expectClosed(receiver);
    expect(all.size).toBe(0);
  });

  it('is closed when it was idle for 100 ms, and not while it is used', async () => {
    const receiver = await startWith();
    const { post, timers } = createKeeping();
    for (let nth = 0; nth < 2; nth++) await post(receiver.url);
    const idle = timers.filter(({ afterMs }) => afterMs === idleMs);
    expect(idle).toMatchObject([{ afterMs: 100, stopped: true }, { stopped: false }]);
    idle[1]?.fire();
    await expectClosed(receiver);
    expect(await post(receiver.url)).toMatchObject(answered('good'));
    expect(receiver.connections).toHaveLength(2);
  });

  it('is left to the next attempt for 5 s after its opening', async () => {
    const receiver = await startWith();
    const { post } = createKeeping();
    vi.useFakeTimers({ toFake: ['performance'] });
    for (const connections of [1, 1, 1, 2]) {
      await post(receiver.url);
      expect(receiver.connections).toHaveLength(connections);
      vi.advanceTimersByTime(2_600);
    }
  });

  it('by TLS saves its handshake', async () => {
    setDefaultCACertificates([pem('authority')]);
    const receiver = await startTls('valid', (connection) => connection.on('data', () => connection.write(good)));
    const { post } = createKeeping();
    const phasesOf = async () => Object.keys((await post(receiver.url)).phases ?? {});
    expect(await phasesOf()).toEqual(['connect', 'tls', 'firstByte']);
    expect(await phasesOf()).toEqual(['firstByte']);
    expect(receiver.connections).toHaveLength(1);
  });

  it.each([
    ['another port', 'http://a.example', 1],
    ['another host', 'http://b.example', 0],
    ['another protocol', 'https://a.example', 0],
  ])('is closed by an attempt at %s', async (_, other, portsAway) => {
    const receiver = await startWith();
    const { resolve } = createTestResolver(['127.0.0.1'], ['127.0.0.1']);
    const { connections, post } = createKeeping({ allowed: 'a.example:*,b.example:*', resolve });
    await post(`http://a.example:${receiver.port}/`);
    expect(connections.idle).toHaveLength(1);
    const kept = sockets.at(-1);
    stopDials();
    await post(`${other}:${receiver.port + portsAway}/`);
    expect(kept?.destroyed).toBe(true);
    expect(receiver.heads).toHaveLength(1);
  });

  it('ends with the deadline of an attempt that gets no answer, and the request is not sent again', async () => {
    const receiver = await startAnswering((connection, nth) => nth === 1 && connection.write(good));
    const { post, timers, connections } = createKeeping();
    await post(receiver.url);
    const ended = post(receiver.url);
    await vi.waitUntil(() => receiver.heads.length === 2, { interval: 1, timeout: 15_000 });
    timers.at(-1)?.fire();
    expect(await ended).toMatchObject(late);
    await expectClosed(receiver);
    expect(receiver.connections).toHaveLength(1);
    expect(connections.idle).toEqual([]);
  });
});

describe('the addresses of a name', () => {
  /** Starts a receiver at two addresses, and posts twice to its name, which has these addresses then. */
  async function postTwice(first: string[], second: string[]) {
    const receiver = await startWith();
    const other = await startAnswering((connection) => connection.write(saying('other')), '127.0.0.2', receiver.port);
    const { resolve, asked } = createTestResolver(first, second, second);
    const { post } = createKeeping({ allowed: 'receiver.example:*', resolve });
    const url = `http://receiver.example:${receiver.port}/`;
    expect(await post(url)).toMatchObject(answered('good'));
    const outcome = await post(url);
    return { receiver, other, outcome, asked };
  }

  it('are looked up for each attempt; a kept connection is used if its address is among them', async () => {
    const { outcome, receiver, asked } = await postTwice(['127.0.0.1'], ['127.0.0.2', '127.0.0.1']);
    expect(outcome).toMatchObject({ ...answered('good'), address: '127.0.0.1' });
    expect(Object.keys(outcome.phases ?? {})).toEqual(['dns', 'firstByte']);
    expect(receiver.connections).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });

  it('that have changed are dialled, and the kept connection is closed', async () => {
    const { outcome, receiver, other } = await postTwice(['127.0.0.1'], ['127.0.0.2']);
    expect(outcome).toMatchObject({ ...answered('other'), address: '127.0.0.2' });
    expect(other.connections).toHaveLength(1);
    await expectClosed(receiver);
    expect(receiver.heads).toHaveLength(1);
  });

  it('that are no longer found fail the attempt, and the kept connection is closed', async () => {
    const { outcome, receiver } = await postTwice(['127.0.0.1'], []);
    expect(outcome).toMatchObject(unresolved);
    await expectClosed(receiver);
    expect(receiver.heads).toHaveLength(1);
  });

  it('whose look-up ends after the deadline are not dialled, and the kept connection is closed', async () => {
    const receiver = await startWith();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { resolve: atOnce } = createTestResolver(['127.0.0.1']);
    let attempts = 0;
    const resolve: Resolve = (...question) => (++attempts === 1 ? atOnce(...question) : ask());
    const { post, timers } = createKeeping({ allowed: 'receiver.example:*', resolve });
    const url = `http://receiver.example:${receiver.port}/`;
    await post(url);
    const ended = post(url);
    await asked;
    timers.at(-1)?.fire();
    expect(await ended).toMatchObject(late);
    await expectClosed(receiver);
    expect([attempts, receiver.heads.length, receiver.connections.length]).toEqual([2, 1, 1]);
  });
});

describe('a kept connection to a public address', () => {
  const [publicV4 = '', other = ''] = publicAddresses;
  const named = 'https://receiver.example/';

  /** Posts to a URL beside an idle connection of its origin to a receiver that counts as the public address. */
  async function postBeside(url: string, addresses: string[]) {
    vi.restoreAllMocks();
    const receiver = await startWith();
    const { connections, startTimer, post } = createKeeping({
      allowed: '',
      ...createTestResolver(addresses, addresses),
    });
    const socket = connect(receiver.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    Object.defineProperty(socket, 'remoteAddress', { value: publicV4 });
    leaveConnection(connections, new URL(url), { socket, openedAt: performance.now() }, startTimer);
    const dialled = stopDials();
    return { outcome: await post(url), heads: receiver.heads, socket, dialled };
  }

  it('is used while the name has that address', async () => {
    const { outcome, heads, dialled } = await postBeside(named, [other, publicV4]);
    expect(outcome).toMatchObject({ ...answered('good'), address: publicV4 });
    expect([heads.length, dialled]).toEqual([1, []]);
  });

  it.each([...dangerousAddresses, ...specialEnds])(
    'gets nothing once the name has one that is %s, nor does a URL: %s',
    async (_, address) => {
      const inUrl = isIP(address) === 6 ? `[${address}]` : address;
      for (const [url, addresses] of [
        [named, [address]],
        [named, [publicV4, address]],
        [`https://${inUrl}/`, []],
      ] satisfies [string, string[]][]) {
        const { outcome, heads, dialled } = await postBeside(url, addresses);
        expect(outcome).toMatchObject({ httpStatus: 0, error: expect.stringMatching(/^Not sent: .* not public\.$/) });
        expect([heads, dialled]).toEqual([[], []]);
      }
    },
  );
});

describe('a response', () => {
  const chunked = `${success}Transfer-Encoding: chunked\r\n\r\n`;

  it.each([
    ['of one length', good],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['without a body, of length 0', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n'],
    ['of chunks', `${chunked}2\r\nok\r\nA\r\n0123456789\r\n0\r\n\r\n`],
    ['that keeps it', `${success}Connection: Keep-Alive\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n`],
  ])('%s leaves its connection to the next attempt', async (_, text) => {
    const receiver = await startWith(text);
    const { post } = createKeeping();
    for (let nth = 0; nth < 2; nth++) expect(await post(receiver.url)).not.toHaveProperty('error');
    expect(receiver.connections).toHaveLength(1);
  });

  it.each([
    ['that ends it', `${success}Connection: close\r\nContent-Length: 0\r\n\r\n`],
    ['of another word for it', `${success}Connection: keep-alive, upgrade\r\nContent-Length: 0\r\n\r\n`],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n'],
    ['that failed', 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'],
    ['that is a redirect', 'HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n'],
    ['behind an interim one', `HTTP/1.1 100 Continue\r\n\r\n${good}`],
    ['of two equal lengths', `${success}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ['of a length with a sign', `${success}Content-Length: +0\r\n\r\n`],
    ['of a length beside chunks', `${success}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['of a coding beside chunks', `${success}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['of two fields for chunks', `${success}${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n0\r\n\r\n`],
    ['of a chunk with an extension', `${chunked}2;a=b\r\nok\r\n0\r\n\r\n`],
    ['of chunks with a trailer', `${chunked}0\r\nX-A: b\r\n\r\n`],
    ['of a chunk whose line is a line feed', `${chunked}2\nok\r\n0\r\n\r\n`],
    ['of 204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n'],
    ['of 204 with chunks', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['with line feeds alone', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    ['with a folded header', `${success}X-A: a\r\n b\r\nContent-Length: 0\r\n\r\n`],
    ['with a space before a colon', `${success}Content-Length : 0\r\n\r\n`],
    ['with a control character', `${success}X-A: \x01\r\nContent-Length: 0\r\n\r\n`],
    ['with an empty line behind it', `${success}Content-Length: 0\r\n\r\n\r\n`],
    ['with another one behind it', saying('') + saying('smuggled')],
    ['with bytes of no meaning behind it', `${saying('')}smuggled`],
    ['with an empty line before it', `\r\n${good}`],
  ])('%s closes its connection, and the next attempt has its own answer', async (_, text) => {
    const receiver = await startWith(text);
    const { post, connections } = createKeeping();
    await post(receiver.url);
    expect(connections.idle).toEqual([]);
    expect(sockets.at(-1)?.destroyed).toBe(true);
    expect(await post(receiver.url)).toMatchObject(answered('good'));
    expect(receiver.connections).toHaveLength(2);
  });

  it('that comes before the whole request was sent closes its connection', async () => {
    const receiver = await startSocket((connection) => connection.once('data', () => connection.pause().write(good)));
    const { post, connections } = createKeeping();
    expect(await post(receiver.url, 'a'.repeat(32 * 1024 * 1024))).toMatchObject(answered('good'));
    expect(connections.idle).toEqual([]);
    await expectClosed(receiver);
  });
});

describe('an idle connection', () => {
  it.each<[string, (connection: Socket) => void]>([
    ['sends a response that nobody asked for', (connection) => connection.write(saying('smuggled'))],
    ['sends the start of one', (connection) => connection.write(success)],
    ['sends an interim response', (connection) => connection.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['sends an empty line', (connection) => connection.write('\r\n')],
    ['is half closed', (connection) => connection.end()],
    ['is reset', (connection) => connection.resetAndDestroy()],
  ])('that %s is closed, and the next attempt has its own answer', async (_, misbehave) => {
    const receiver = await startAnswering((connection, nth) => connection.write(saying(`answer ${nth}`)));
    const { post, connections } = createKeeping();
    expect(await post(receiver.url)).toMatchObject(answered('answer 1'));
    misbehave(receiver.connections[0] as Socket);
    await untilClosed();
    await vi.waitUntil(() => connections.idle.length === 0, { interval: 1, timeout: 15_000 });
    expect(await post(receiver.url)).toMatchObject(answered('answer 2'));
    expect(receiver.connections).toHaveLength(2);
  });
});

describe('a request on a kept connection', () => {
  /** Posts twice to a receiver that misbehaves from its second request on, and returns the second outcome. */
  async function postAgain(misbehave: (connection: Socket, nth: number) => void) {
    const receiver = await startAnswering((connection, nth) =>
      nth === 1 ? connection.write(good) : misbehave(connection, nth),
    );
    const { post } = createKeeping();
    expect(await post(receiver.url)).toMatchObject(answered('good'));
    return { outcome: await post(receiver.url), receiver };
  }

  it.each<[string, (connection: Socket) => void]>([
    ['reset', (connection) => connection.resetAndDestroy()],
    ['ended', (connection) => connection.end()],
  ])('is sent once more on a new one if it is %s before the first byte of the response', async (_, breakOff) => {
    const { outcome, receiver } = await postAgain((connection, nth) =>
      nth === 2 ? breakOff(connection) : connection.write(saying('again')),
    );
    expect(outcome).toMatchObject(answered('again'));
    expect(outcome.phases).toHaveProperty('connect');
    expect([receiver.heads.length, receiver.connections.length]).toEqual([3, 2]);
  });

  it('is not sent a third time', async () => {
    const { outcome, receiver } = await postAgain((connection) => connection.resetAndDestroy());
    expect(outcome).toMatchObject({ httpStatus: 0, error: 'The connection failed: the receiver broke it off.' });
    expect([receiver.heads.length, receiver.connections.length]).toEqual([3, 2]);
  });

  it.each(['H', 'HTTP/1.1 100 Continue\r\n\r\n', `${success}X-A`, '\r\n'])(
    'is not sent again after a first byte: %j',
    async (start) => {
      const { outcome, receiver } = await postAgain((connection) => connection.end(start));
      expect(outcome).toMatchObject({ httpStatus: 0, error: expect.stringContaining('closed it before its answer') });
      expect([receiver.heads.length, receiver.connections.length]).toEqual([2, 1]);
    },
  );
});
