import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { type buildConnector, Client } from 'undici';

/** The one connection of an attempt. */
export type Connection = {
  /** What undici sends the request through. */
  dispatcher: Client;
  /** Ends the connection in whatever state it is, its look-up included; a request on it fails with the reason. */
  close: (reason?: Error) => Promise<void>;
};

/**
 * All that is read of an answer, in bytes: interim answers, headers, chunk framing and all. Headers and the kept start
 * of a body are 16 KiB each, and this leaves room for a body of one-byte chunks and for what a socket reads ahead.
 */
const answerLimit = 256 * 1024;

/** The receiver sent more than is ever read of an answer. */
export class AnswerTooLong extends Error {}

/**
 * Prepares a connection that is dialled by the first request on it. undici's own connector does not serve: it keeps
 * its socket to itself until that is connected, so that one which hangs in its look-up or in TLS outlives the attempt.
 */
export function openConnection(origin: string, lookup: LookupFunction): Connection {
  let socket: Socket | undefined;
  const dispatcher = new Client(origin, {
    pipelining: 0,
    // The attempt's deadline is the only clock; these would stop neither a drip nor a hanging look-up.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target, callback) => {
      socket = dial(target, lookup, callback);
    },
  });
  return {
    dispatcher,
    close: async (reason) => {
      socket?.destroy(reason);
      await dispatcher.destroy(reason ?? null);
    },
  };
}

function dial(
  { protocol, hostname: host, port }: buildConnector.Options,
  lookup: LookupFunction,
  connected: buildConnector.Callback,
): Socket {
  const secure = protocol === 'https:';
  const socket = secure
    ? openTls({
        host,
        port: Number(port || 443),
        lookup,
        // A name for SNI has no dot behind it, and an address is none (RFC 6066, section 3).
        servername: isIP(host) ? '' : host.replace(/\.$/, ''),
        // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
      })
    : openTcp({ host, port: Number(port || 80), lookup });
  const failed = (error: Error) => connected(error, null);
  return socket
    .setNoDelay(true)
    .on('readable', () => {
      if (socket.bytesRead > answerLimit) socket.destroy(new AnswerTooLong());
    })
    .once('error', failed)
    .once(secure ? 'secureConnect' : 'connect', () => {
      // undici is told once, and hears of later errors by itself.
      socket.off('error', failed);
      connected(null, socket);
    });
}
