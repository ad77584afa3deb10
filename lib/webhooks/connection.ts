import { addAbortListener } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';

// An import reads all that a module exports: of this one a WebSocket as well, and to make that Node.js loads its undici.
const { request } = process.getBuiltinModule('node:http');

/**
 * All that is read of an answer, in bytes: interim answers, headers, chunk framing and all. Headers and the kept start
 * of a body are 16 KiB each, and this leaves room for a body of one-byte chunks and for what a socket reads ahead.
 */
const answerLimit = 256 * 1024;

/** All that is read before an answer, in bytes: interim ones, of which each little one takes kilobytes of memory. */
const interimLimit = 64 * 1024;

/** The most of an answer's headers, in bytes. */
const headersLimit = 16 * 1024;

/**
 * How long a name's address may take to connect before the next one is tried, in milliseconds. Node.js gives each 250:
 * less than a receiver on another continent needs where a packet is lost, since TCP sends it again after 1 s. Of the
 * 10 s of an attempt this leaves time for two addresses that do not answer and one that does.
 */
const addressMs = 3_000;

/** The receiver sent more than is ever read before an answer. */
export class AnswerTooLong extends Error {}

/** The receiver answered what it was not asked for, in the words of the history. */
export class Unasked extends Error {}

/** What the receiver answered is not HTTP, though Node.js takes it for that. */
export class NotHttp extends Error {}

/**
 * Posts to a receiver on a connection of its own, and returns its answer once the headers have come. Node.js has no
 * other socket for the request than the one dialled here, so that the signal can close it at any time.
 *
 * @param lookup finds the address to dial, and refuses those that must not be; it is not called for literal ones
 * @param signal closes the connection in whatever state it is, its look-up included; the caller aborts it when it has
 * read the answer, and after an error
 * @throws what went wrong: see `sentenceFor`
 */
export function postTo(
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const socket = dial(url, lookup);
  // Also closes the socket if the look-up has aborted the signal already.
  addAbortListener(signal, () => socket.destroy());
  const length = String(Buffer.byteLength(body));
  let limit = interimLimit;
  return new Promise((resolve, reject) => {
    // Node.js removes its own listener when the receiver switches to another protocol, and an error without a listener
    // ends the process.
    socket.on('error', reject);
    request({
      createConnection: () => socket,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, Host: url.host, 'Content-Length': length },
      maxHeaderSize: headersLimit,
    })
      .on('socket', () => {
        socket.on('data', () => {
          if (socket.bytesRead > limit) socket.destroy(new AnswerTooLong());
        });
      })
      // Interim answers are waited past, as HTTP has it; a status below 100 is none, nor is a switch to nothing.
      .on('information', ({ statusCode }) => statusCode < 100 && reject(new NotHttp()))
      .on('continue', () => reject(new Unasked('The receiver answered 100, which it was not asked for.')))
      .on('upgrade', () =>
        reject(new Unasked('The receiver switched to another protocol, which it was not asked for.')),
      )
      .on('response', (answer) => {
        limit = answerLimit;
        if ((answer.statusCode ?? 0) < 200) reject(new NotHttp());
        else resolve(answer);
      })
      .on('error', reject)
      .end(body);
  });
}

function dial({ protocol, hostname, port }: URL, lookup: LookupFunction): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  const by = { host, lookup, autoSelectFamilyAttemptTimeout: addressMs };
  if (protocol !== 'https:') return openTcp({ ...by, port: Number(port || 80) }).setNoDelay(true);
  const tls = {
    // A name for SNI has no dot behind it, and an address is none (RFC 6066, section 3).
    servername: isIP(host) ? '' : host.replace(/\.$/, ''),
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  };
  return openTls({ ...by, port: Number(port || 443), ...tls }).setNoDelay(true);
}
