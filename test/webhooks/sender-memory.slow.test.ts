import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bytesOf, gigabyte, type Hostile, hostileReceivers } from './hostile-receivers.ts';
import { startReceiver, startSocket } from './receiver.ts';

const run = promisify(execFile);

/** An attempt is left to hang for so long; what grows does so in the first moments. */
const hangingMs = 2_000;

/**
 * Posts from a process of its own, where nothing else takes memory: to a receiver that answers, until all is loaded,
 * then to the hostile one. Prints the outcome and the most that memory grew by meanwhile, in bytes. A careless client
 * can take the sender's place at the hostile one.
 */
const driver = `
import { openSender } from '${new URL('../../lib/webhooks/sender.ts', import.meta.url)}';
import { allowedReceivers } from '${new URL('../../lib/webhooks/receivers.ts', import.meta.url)}';
const [well, hostile, client] = process.argv.slice(1);
const alarm = (ring) => {
  const timeout = setTimeout(ring, ${hangingMs});
  return () => clearTimeout(timeout);
};
const send = openSender(allowedReceivers('127.0.0.1:*'), { alarm });
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
const { httpStatus, timedOut, error, length } = await clients[client](hostile);
look();
clearInterval(watch);
console.log(JSON.stringify({ httpStatus, timedOut, error, length, ...most }));
`;

/** What the driver prints of a client and a hostile receiver, and what that could write. */
async function measure(client: 'sender' | 'careless', start: Hostile['start']) {
  const [well, hostile] = [await startReceiver(), await start()];
  const options = ['--expose-gc', '--input-type=module', '--eval', driver];
  const authority = fileURLToPath(new URL('certificates/authority.pem', import.meta.url));
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority };
  const { stdout } = await run(process.execPath, [...options, well.url, hostile.url, client], { env });
  return { ...JSON.parse(stdout), written: hostile.connections[0]?.bytesWritten };
}

/** 20 MB: what an attempt may take. */
const bound = 20_000_000;

describe('the memory of an attempt', () => {
  it('is measured so that a careless client would be seen', async () => {
    const body = bytesOf(100_000_000, Buffer.alloc(1_000_000), '200 OK\r\n');
    const { length, rss, heap } = await measure('careless', () => startSocket(body));
    expect(length).toBe(100_000_000);
    expect(rss).toBeGreaterThan(bound);
    expect(heap).toBeGreaterThan(bound);
  });

  it.for(hostileReceivers)(
    'grows by less than 20 MB at a receiver that $name',
    async ({ start, httpStatus, error, hangs = false }) => {
      const { rss, heap, written, ...outcome } = await measure('sender', start);
      expect(outcome).toEqual({ httpStatus, timedOut: hangs, ...(error && { error }) });
      expect(rss).toBeLessThan(bound);
      expect(heap).toBeLessThan(bound);
      // What the buffers of the operating system hold is written and not read.
      expect(written).toBeLessThan(gigabyte / 20);
    },
  );
});
