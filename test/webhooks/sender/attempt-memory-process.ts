import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import { createTestSender } from './test-sender.ts';

/** A receiver to post to, by the sender or by a client that reads the whole answer. */
export type Question = { url: string; client: 'sender' | 'careless' };

/** The most bytes that were in use beyond those before the attempt, and how many bytes its connection read. */
export type Measured = { grownBytes: number; readBytes: number };

const sockets: Socket[] = [];
subscribe('net.client.socket', (message) => sockets.push((message as { socket: Socket }).socket));

/** The deadline is 1 s here: memory that grows does so in the first moments. */
const startTimer = (callback: () => void) => {
  const timeout = setTimeout(callback, 1_000);
  return () => clearTimeout(timeout);
};
const send = createTestSender(readAllowedReceivers('127.0.0.1:*'), { startTimer });
const clients = {
  sender: (url: string) => send({ url, headers: {}, body: '{}' }),
  careless: async (url: string) => (await fetch(url)).arrayBuffer(),
};

/** The bytes in use, without garbage. */
function usedBytes(): number {
  (globalThis.gc as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function measure({ url, client }: Question): Promise<Measured> {
  sockets.length = 0;
  const before = usedBytes();
  const used: number[] = [];
  const look = () => used.push(usedBytes());
  const looking = setInterval(look, 50);
  // The result is kept until it is measured.
  const results: unknown[] = [await clients[client](url)];
  look();
  clearInterval(looking);
  results.length = 0;
  const readBytes = sockets.reduce((total, { bytesRead }) => total + bytesRead, 0);
  return { grownBytes: Math.max(...used) - before, readBytes };
}

process.on('message', async (question: Question) => process.send?.(await measure(question)));
