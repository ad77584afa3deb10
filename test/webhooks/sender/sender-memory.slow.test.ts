import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Measured, Question } from './attempt-memory-process.ts';
import { drip, flood, type Receiver, startReceiver, startSocket, startTls } from './receiver.ts';

// A process of its own, where nothing but the attempt takes memory.
const program = fileURLToPath(new URL('attempt-memory-process.ts', import.meta.url));
const NODE_EXTRA_CA_CERTS = fileURLToPath(new URL('certificates/authority.pem', import.meta.url));
const child = fork(program, [], { execArgv: ['--expose-gc'], env: { ...process.env, NODE_EXTRA_CA_CERTS } });
afterAll(() => child.disconnect());

/** Has the process post to a receiver, and returns what that took. */
async function measure(question: Question): Promise<Measured> {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0];
}

// Everything that an attempt loads is loaded before the first one that is measured.
const { url: healthy } = await startReceiver();
for (let count = 0; count < 20; count++) await measure({ url: healthy, client: 'sender' });

/** Writes a start, and then a text without an end. */
const endless = (start: string, more: string | Buffer) => (connection: Socket) => {
  connection.write(start);
  flood(connection, more);
};

const ok = 'HTTP/1.1 200 OK\r\n';
const zeros = Buffer.alloc(1_000_000);
const gigabyte = 'Content-Length: 1000000000\r\n\r\n';
const gzip = `${ok}Content-Encoding: gzip\r\n${gigabyte}`;

/** The hostile receivers that make a sender read, wait or allocate. */
const receivers: [name: string, speak: (connection: Socket) => void][] = [
  ['hangs', () => {}],
  ['drips its body', (connection) => drip(connection, `${ok}\r\n`, 200)],
  ['sends headers without an end', endless(ok, 'X-Short: x\r\n')],
  ['sends one header without an end', endless(`${ok}X-Long: `, 'x')],
  ['sends interim answers without an end', endless('', 'HTTP/1.1 102 \r\n\r\n')],
  ['sends a body of a gigabyte', endless(`${ok}${gigabyte}`, zeros)],
  ['fails with a body of a gigabyte', endless(`HTTP/1.1 503 No\r\n${gigabyte}`, zeros)],
  ['sends a gzip bomb', endless(gzip, gzipSync(zeros))],
  ['resets the connection', (connection) => void connection.once('data', () => connection.resetAndDestroy())],
];

/** Expects that an attempt uses little memory, and reads little more than its bounds of headers and body. */
async function expectBounded({ url, connections }: Pick<Receiver, 'url' | 'connections'>) {
  const { grownBytes, readBytes } = await measure({ url, client: 'sender' });
  expect(connections).toHaveLength(1);
  expect(grownBytes).toBeLessThan(2_000_000);
  expect(readBytes).toBeLessThan(1_000_000);
}

describe('the memory of an attempt', () => {
  it('is measured so that a client that reads the whole answer is seen', async () => {
    const { url } = await startReceiver((response) => response.end(Buffer.alloc(20_000_000)));
    const { grownBytes, readBytes } = await measure({ url, client: 'careless' });
    expect(grownBytes).toBeGreaterThan(20_000_000);
    expect(readBytes).toBeGreaterThan(20_000_000);
  });

  it.each(receivers)('is bounded, and so is what it reads, at a receiver that %s', async (_, speak) => {
    await expectBounded(await startSocket(speak));
  });

  it.each(['expired', 'self-signed'])('is bounded at a receiver whose certificate is %s', async (certificate) => {
    await expectBounded(await startTls(certificate));
  });
});
