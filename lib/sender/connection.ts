import { addAbortListener } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { endsExactly } from './exact-end.ts';
import { requestHeaders } from './headers.ts';
import { hostOf } from './receivers.ts';

// An import statement reads all exports of a module. One of node:http is WebSocket, for which Node.js loads undici.
const { request } = process.getBuiltinModule('node:http');

/**
 * The maximum number of bytes that are read of a response, with interim responses, headers and chunk framing: 128 KiB
 * before the response, 96 KiB for 16 KiB of a body in one-byte chunks, and the read-ahead of the socket.
 */
const responseReadLimit = 256 * 1024;

/** The maximum number of bytes of response headers. */
export const headersLimit = 64 * 1024;

/**
 * The maximum number of bytes that are read before a response: its headers, and as much of interim responses. Each short
 * interim response takes kilobytes of memory.
 */
const interimLimit = 2 * headersLimit;

/** The versions of HTTP that are accepted. The lenient parser accepts any two digits. */
const httpVersions: ReadonlySet<string> = new Set(['0.9', '1.0', '1.1', '2.0']);

/**
 * How long one address of a name may take to connect before the next one is tried, in milliseconds. The 250 ms of Node.js
 * are too short for a receiver on another continent if a packet is lost: TCP sends it again after 1 s. The 10 s of an
 * attempt are enough for two addresses that do not respond and one that does.
 */
const addressMs = 3_000;

/**
 * The steps of a request that were reached, in milliseconds of `performance.now()`, and the address that was dialled. A
 * literal address has no look-up, and plain HTTP no handshake.
 */
export type RequestSteps = {
  resolvedAt?: number;
  connectedAt?: number;
  securedAt?: number;
  firstByteAt?: number;
  /** The last one, if the name has several and the first ones did not respond. */
  address?: string;
};

/** The receiver sent more than `interimLimit` before a response, or more than `responseReadLimit` with it. */
export class ResponseTooLong extends Error {}

/** The receiver sent a response that the request does not allow. The message is the text in the history. */
export class Unasked extends Error {}

/** The response is not HTTP, but Node.js accepts it. */
export class NotHttp extends Error {}

/** What a request needs beside its URL, its headers and its body. */
export type Exchange = {
  /** A new connection to the receiver, or a kept one. */
  socket: Socket;
  /** Closes the connection in any state; the caller aborts it when it has read the response, and after an error. */
  signal: AbortSignal;
  /** Gets each step when it is reached. */
  steps: RequestSteps;
  /** Whether the receiver is asked to keep the connection. */
  keepAlive: boolean;
};

/** A response whose headers are complete. */
export type ReceiverAnswer = {
  response: IncomingMessage;
  /**
   * Ends the use of the socket after the whole body was read, and returns it if it can carry another request: the request was
   * sent completely, and all that came was the response, whose end every parser finds at the same byte.
   */
  release: () => Promise<Socket | undefined>;
};

/**
 * Opens a connection to the receiver of a URL.
 *
 * @param lookup resolves the host name, and rejects forbidden addresses; it is not called for literal addresses
 * @param steps gets each step when it is reached
 */
export function dialReceiver(url: URL, lookup: LookupFunction, steps: RequestSteps): Socket {
  const socket = dial(url, notingLookup(lookup, steps));
  noteSteps(socket, steps);
  // An error without a listener would end the process, and the listeners of requests are removed after each.
  return socket.on('error', () => {});
}

/**
 * Posts to a receiver, and returns the response when its headers are complete. The request uses the socket that it gets, so
 * that the signal can close it at any time.
 *
 * @throws an error that `sentenceFor` describes
 */
export function postTo(
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  { socket, signal, steps, keepAlive }: Exchange,
): Promise<ReceiverAnswer> {
  // Also closes the socket if the signal is already aborted.
  addAbortListener(signal, () => socket.destroy());
  const readBefore = socket.bytesRead;
  let limit = interimLimit;
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const note = (data: Buffer) => {
      steps.firstByteAt ??= performance.now();
      if (socket.bytesRead - readBefore > limit) socket.destroy(new ResponseTooLong());
      if (keepAlive) received.push(data);
    };
    // Node.js removes its listener when the receiver switches to another protocol.
    socket.on('error', reject);
    const sent = request({
      createConnection: () => socket,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: requestHeaders(headers, url.host, { body, keepAlive }),
      maxHeaderSize: headersLimit,
      // Accepts responses that other clients accept: folded headers, lines that end with LF alone, and a Content-Length
      // beside chunks. This is not a way to smuggle a response: nothing is forwarded, and after such a response the
      // connection carries no other one (`endsExactly`).
      insecureHTTPParser: true,
    })
      .on('socket', () => socket.on('data', note))
      // Interim responses are skipped, as HTTP requires, also a 100 that was not asked for (RFC 9110, section 15.2). A
      // status below 100 is invalid, and so is 101 without an upgrade.
      .on('information', ({ statusCode, httpVersion }) => {
        if (statusCode < 100 || !httpVersions.has(httpVersion)) reject(new NotHttp());
      })
      .on('upgrade', () =>
        reject(new Unasked('The receiver switched to another protocol, which it was not asked for.')),
      )
      .on('response', (response) => {
        limit = responseReadLimit;
        const release = async () => {
          if (!sent.writableFinished || !sent.shouldKeepAlive || !endsExactly(response, received)) return undefined;
          // Only then have all listeners of the request been removed from the socket.
          await closed;
          socket.off('data', note).off('error', reject);
          return socket.destroyed ? undefined : socket;
        };
        if ((response.statusCode ?? 0) < 200 || !httpVersions.has(response.httpVersion)) reject(new NotHttp());
        else resolve({ response, release });
      })
      .on('error', reject);
    const closed = new Promise<void>((close) => sent.once('close', close));
    sent.end(body);
  });
}

/** Returns a look-up that notes when it has found addresses. A listener on the socket could be too late for it. */
export function notingLookup(lookup: LookupFunction, steps: RequestSteps): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, ...found) => {
      if (!error) steps.resolvedAt = performance.now();
      callback(error, ...found);
    });
}

/** Notes the steps after the look-up when the socket reaches them. */
function noteSteps(socket: Socket, steps: RequestSteps): void {
  socket.on('connectionAttempt', (address) => {
    steps.address = address;
  });
  socket.on('connect', () => {
    steps.connectedAt = performance.now();
    if (socket.remoteAddress) steps.address = socket.remoteAddress;
  });
  socket.on('secureConnect', () => {
    steps.securedAt = performance.now();
  });
}

function dial(url: URL, lookup: LookupFunction): Socket {
  const { protocol, port } = url;
  const host = hostOf(url);
  const options = { host, lookup, autoSelectFamilyAttemptTimeout: addressMs };
  if (protocol !== 'https:') return openTcp({ ...options, port: Number(port || 80) }).setNoDelay(true);
  const tls = {
    // A name for SNI has no trailing dot, and an address is not a name (RFC 6066, section 3).
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  };
  return openTls({ ...options, port: Number(port || 443), ...tls }).setNoDelay(true);
}
