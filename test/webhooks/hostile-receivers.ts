import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Receiver } from './receiver.ts';
import { drip, flood, startReceiver, startSocket, startTls } from './receiver.ts';

/** A receiver that does its worst, and what an attempt at it comes to: no `error` is a success. */
export type Hostile = {
  name: string;
  start: () => Promise<Pick<Receiver, 'url' | 'connections'>>;
  httpStatus: number;
  error?: string;
  /** It holds the attempt up to its deadline. */
  hangs?: true;
};

const late = { httpStatus: 0, error: 'No answer within 10 s.', hangs: true } as const;

/** Writes at once, and a text more each 200 ms. */
const dripping = (start: string, more: string) => () =>
  startSocket((connection) => {
    connection.write(start);
    drip(connection, more, 200);
  });

/** Writes the start of an answer and then a text without an end. */
const endless = (start: string, more: string) => () =>
  startSocket((connection) => {
    connection.write(start);
    flood(connection, more);
  });

/** Writes once something was read, and closes the connection. */
const saying = (text: string) => () =>
  startSocket((connection) => void connection.once('data', () => connection.end(text)));

const gigabyte = 1_000_000_000;
const zeros = Buffer.alloc(1_000_000);
const packed = gzipSync(zeros);

/** Writes so many bytes of a block that is repeated, if they are taken. */
export const bytesOf = (length: number, block: Buffer, headers: string) => (connection: Socket) => {
  connection.write(`HTTP/1.1 ${headers}Content-Length: ${length}\r\n\r\n`);
  let left = length;
  const more = () => {
    while (left > 0 && !connection.destroyed) {
      left -= block.length;
      if (!connection.write(block)) return;
    }
  };
  connection.on('drain', more);
  more();
};

/** A receiver that must never hear of a redirect to it. */
export const canary = await startReceiver();

/** The hostile receivers of every kind that a sender has to outlive. */
export const hostileReceivers: Hostile[] = [
  { name: 'hangs', start: () => startReceiver(() => {}), ...late },
  { name: 'drips its status line, 1 byte each 200 ms', start: dripping('HTTP/1.1 200 ', 'x'), ...late },
  { name: 'drips its headers, 1 byte each 200 ms', start: dripping('HTTP/1.1 200 OK\r\nX-Long: ', 'x'), ...late },
  { name: 'sends an interim answer each 200 ms', start: dripping('', 'HTTP/1.1 102 Processing\r\n\r\n'), ...late },
  {
    name: 'drips its body, 1 byte each 200 ms',
    start: dripping('HTTP/1.1 200 OK\r\n\r\n', 'x'),
    httpStatus: 200,
    hangs: true,
  },
  {
    name: 'drips the body of a failure, 1 byte each 200 ms',
    start: dripping('HTTP/1.1 500 No\r\n\r\n', 'x'),
    httpStatus: 500,
    error: 'The receiver answered 500.',
    hangs: true,
  },
  {
    name: 'sends headers without an end',
    start: endless('HTTP/1.1 200 OK\r\n', 'X-Short: x\r\n'),
    httpStatus: 0,
    error: 'The headers of the answer are over 16 KiB.',
  },
  {
    name: 'sends one header without an end',
    start: endless('HTTP/1.1 200 OK\r\nX-Long: ', 'x'),
    httpStatus: 0,
    error: 'The headers of the answer are over 16 KiB.',
  },
  {
    name: 'sends interim answers without an end',
    start: endless('', 'HTTP/1.1 102 \r\n\r\n'),
    httpStatus: 0,
    error: 'The receiver sent more than 64 KiB and no answer in it.',
  },
  {
    name: 'sends a body of a gigabyte',
    start: () => startSocket(bytesOf(gigabyte, zeros, '200 OK\r\n')),
    httpStatus: 200,
  },
  {
    name: 'sends a body of a gigabyte with a failure',
    start: () => startSocket(bytesOf(gigabyte, zeros, '503 No\r\n')),
    httpStatus: 503,
    error: 'The receiver answered 503.',
  },
  {
    name: 'sends a gzip bomb',
    start: () => startSocket(bytesOf(packed.length * 1_000, packed, '200 OK\r\nContent-Encoding: gzip\r\n')),
    httpStatus: 200,
  },
  {
    name: 'resets the connection',
    start: () => startSocket((connection) => void connection.once('data', () => connection.resetAndDestroy())),
    httpStatus: 0,
    error: 'The connection failed: the receiver broke it off.',
  },
  {
    name: 'redirects to another on this machine',
    start: () => startReceiver((response) => response.writeHead(307, { Location: canary.url }).end()),
    httpStatus: 307,
    error: 'The receiver answered 307.',
  },
  {
    name: 'shows a certificate that has expired',
    start: () => startTls('expired'),
    httpStatus: 0,
    error: 'The certificate of the receiver has expired.',
  },
  {
    name: 'shows a self-signed certificate',
    start: () => startTls('self-signed'),
    httpStatus: 0,
    error: 'The certificate of the receiver is self-signed.',
  },
  { name: 'answers by HTTP/1.0', start: saying('HTTP/1.0 200 OK\r\n\r\nwell'), httpStatus: 200 },
  {
    name: 'answers by HTTP/1.0 that it failed',
    start: saying('HTTP/1.0 500 No\r\n\r\n'),
    httpStatus: 500,
    error: 'The receiver answered 500.',
  },
  {
    name: 'answers nothing and closes',
    start: saying(''),
    httpStatus: 0,
    error: 'The connection failed: the receiver closed it before its answer.',
  },
];
