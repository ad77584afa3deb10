import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { flood, startReceiver, startSocket } from './receiver.ts';

const run = promisify(execFile);

/**
 * Posts from a process of its own, where nothing else takes memory: to a receiver that answers, until all is loaded,
 * then to the hostile one. Prints the outcome and the most that memory grew by meanwhile, in bytes. A careless client
 * can take the sender's place at the hostile one.
 */
const driver = `
import { openSender } from '${new URL('../../lib/webhooks/sender.ts', import.meta.url)}';
import { allowedReceivers } from '${new URL('../../lib/webhooks/receivers.ts', import.meta.url)}';
const [well, hostile, client] = process.argv.slice(1);
const send = openSender(allowedReceivers('127.0.0.1:*'), { alarm: (ring) => { const timeout = setTimeout(ring, 3_000); return () => clearTimeout(timeout); } });
const clients = {
  sender: (url) => send({ url, headers: {}, body: '{}' }),
  careless: async (url) => ({ length: (await (await fetch(url)).arrayBuffer()).byteLength }),
};
for (let count = 0; count < 20; count++) await clients.sender(well);
gc();
const used = () => {
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
};
const before = used();
const most = { rss: 0, heap: 0 };
const look = () => {
  const now = used();
  for (const key of Object.keys(most)) most[key] = Math.max(most[key], now[key] - before[key]);
};
const watch = setInterval(look, 1);
const { httpStatus, timedOut, length } = await clients[client](hostile);
look();
clearInterval(watch);
console.log(JSON.stringify({ httpStatus, timedOut, length, ...most }));
`;

/** What the driver prints of a client and a receiver that speaks so, and what that receiver could write. */
async function measure(client: 'sender' | 'careless', speak: (connection: Socket) => void) {
  const [well, hostile] = [await startReceiver(), await startSocket(speak)];
  const options = ['--expose-gc', '--input-type=module', '--eval', driver];
  const { stdout } = await run(process.execPath, [...options, well.url, hostile.url, client]);
  return { ...JSON.parse(stdout), written: hostile.connections[0]?.bytesWritten };
}

/** 20 MB: what an attempt may take. */
const bound = 20_000_000;

const gigabyte = 1_000_000_000;

/** Writes so many bytes of a block that is repeated, if they are taken. */
const bytesOf = (length: number, block: Buffer, headers: string) => (connection: Socket) => {
  connection.write(`HTTP/1.1 200 OK\r\n${headers}Content-Length: ${length}\r\n\r\n`);
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

/** Writes the start of an answer and then a text without an end. */
const endless = (start: string, more: string) => (connection: Socket) => {
  connection.write(start);
  flood(connection, more);
};

const zeros = Buffer.alloc(1_000_000);
const packed = gzipSync(zeros);
const bomb = packed.length * 1_000;

describe('the memory of an attempt', () => {
  it('is measured so that a careless client would be seen', async () => {
    const { length, rss, heap } = await measure('careless', bytesOf(100_000_000, zeros, ''));
    expect(length).toBe(100_000_000);
    expect(rss).toBeGreaterThan(bound);
    expect(heap).toBeGreaterThan(bound);
  });

  it.each<[string, (connection: Socket) => void, object]>([
    ['a body of a gigabyte', bytesOf(gigabyte, zeros, ''), { httpStatus: 200 }],
    ['a body that unpacks to a gigabyte', bytesOf(bomb, packed, 'Content-Encoding: gzip\r\n'), { httpStatus: 200 }],
    ['headers without an end', endless('HTTP/1.1 200 OK\r\n', 'X-Short: x\r\n'), { httpStatus: 0 }],
    ['a header without an end', endless('HTTP/1.1 200 OK\r\nX-Long: ', 'x'), { httpStatus: 0 }],
    ['interim answers without an end', endless('', 'HTTP/1.1 102 \r\n\r\n'), { httpStatus: 0 }],
  ])('grows by less than 20 MB with %s', async (_, speak, answer) => {
    const { rss, heap, written, ...outcome } = await measure('sender', speak);
    expect(outcome).toEqual({ ...answer, timedOut: false });
    expect(rss).toBeLessThan(bound);
    expect(heap).toBeLessThan(bound);
    // What the buffers of the operating system hold is written and not read.
    expect(written).toBeLessThan(gigabyte / 20);
  });
});
