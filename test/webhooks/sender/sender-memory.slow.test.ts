import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { Measured, Question } from './attempt-memory-process.ts';
import { bytesOf, hostileReceivers } from './hostile-receivers.ts';
import { startReceiver, startSocket } from './receiver.ts';

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

/** The most memory that an attempt may use. */
const memoryLimit = 2_000_000;

/** The most that an attempt may read: its bounds of headers and body, and what sockets read at once. */
const readLimit = 1_000_000;

describe('the memory of an attempt', () => {
  it('is measured so that a client that reads the whole answer is seen', async () => {
    const body = bytesOf(20_000_000, Buffer.alloc(1_000_000), '200 OK\r\n');
    const { grownBytes, readBytes } = await measure({ url: (await startSocket(body)).url, client: 'careless' });
    expect(grownBytes).toBeGreaterThan(20_000_000);
    expect(readBytes).toBeGreaterThan(20_000_000);
  });

  it.for(hostileReceivers)('is bounded, and so is what it reads, at a receiver that $name', async ({ start }) => {
    const { url, connections } = await start();
    const { grownBytes, readBytes } = await measure({ url, client: 'sender' });
    expect(connections).toHaveLength(1);
    expect(grownBytes).toBeLessThan(memoryLimit);
    expect(readBytes).toBeLessThan(readLimit);
  });
});
