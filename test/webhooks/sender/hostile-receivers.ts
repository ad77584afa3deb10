import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Receiver } from './receiver.ts';
import { drip, flood, startReceiver, startSocket, startTls } from './receiver.ts';

/** Writes a text at once, and another one every 200 ms. */
const dripping = (start: string, more: string) => () =>
  startSocket((connection) => {
    connection.write(start);
    drip(connection, more, 200);
  });

/** Writes the start of an answer, and then a text without an end. */
const endless = (start: string, more: string) => () =>
  startSocket((connection) => {
    connection.write(start);
    flood(connection, more);
  });

const gigabyte = 1_000_000_000;
const zeros = Buffer.alloc(1_000_000);
const packed = gzipSync(zeros);

/** Writes this number of bytes, by repeating a block. */
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

/** The hostile receivers that make a sender read, wait or allocate. */
export const hostileReceivers: { name: string; start: () => Promise<Pick<Receiver, 'url' | 'connections'>> }[] = [
  { name: 'hangs', start: () => startReceiver(() => {}) },
  { name: 'drips its status line', start: dripping('HTTP/1.1 200 ', 'x') },
  { name: 'drips its headers', start: dripping('HTTP/1.1 200 OK\r\nX-Long: ', 'x') },
  { name: 'drips interim answers', start: dripping('', 'HTTP/1.1 102 Processing\r\n\r\n') },
  { name: 'drips its body', start: dripping('HTTP/1.1 200 OK\r\n\r\n', 'x') },
  { name: 'drips the body of a failure', start: dripping('HTTP/1.1 500 No\r\n\r\n', 'x') },
  { name: 'sends headers without an end', start: endless('HTTP/1.1 200 OK\r\n', 'X-Short: x\r\n') },
  { name: 'sends one header without an end', start: endless('HTTP/1.1 200 OK\r\nX-Long: ', 'x') },
  { name: 'sends interim answers without an end', start: endless('', 'HTTP/1.1 102 \r\n\r\n') },
  { name: 'sends a body of a gigabyte', start: () => startSocket(bytesOf(gigabyte, zeros, '200 OK\r\n')) },
  { name: 'fails with a body of a gigabyte', start: () => startSocket(bytesOf(gigabyte, zeros, '503 No\r\n')) },
  {
    name: 'sends a gzip bomb',
    start: () => startSocket(bytesOf(packed.length * 1_000, packed, '200 OK\r\nContent-Encoding: gzip\r\n')),
  },
  {
    name: 'resets the connection',
    start: () => startSocket((connection) => void connection.once('data', () => connection.resetAndDestroy())),
  },
  { name: 'shows a certificate that has expired', start: () => startTls('expired') },
  { name: 'shows a self-signed certificate', start: () => startTls('self-signed') },
];
