import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** A request to a receiver: its time, its headers, and its body, also as the received bytes. */
export type Received = { at: number; path: string; headers: Record<string, string>; raw: Buffer; body: Delivered };

/** The body of a delivery, about a task or an execution. */
type Delivered = {
  event: string;
  deliveryId: string;
  timestamp: string;
  data: { task: Record<string, string>; execution: Record<string, unknown>; occurredAt: string };
};

/** A receiver of webhooks, and all requests that it has got. */
export type Receiver = {
  url: string;
  port: number;
  received: Received[];
  /** Resolves with the first `count` requests; fails when they do not come in time. */
  next: (count: number, withinMs?: number) => Promise<Received[]>;
  /** Resolves with all requests once they satisfy a condition. */
  once: (what: string, enough: (received: Received[]) => boolean, withinMs?: number) => Promise<Received[]>;
  close: () => Promise<void>;
};

/** The response of a receiver; one that does nothing hangs. */
export type Answering = (received: Received, response: ServerResponse) => void;

const closes: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closes) await close();
});

/** Starts a receiver on the loopback. It responds with 204 by default. */
export async function startReceiver(
  answer: Answering = (_, response) => response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const headers = request.headers as Record<string, string>;
    const body = JSON.parse(raw.toString('utf8')) as Delivered;
    const one = { at: Date.now(), path: request.url as string, headers, raw, body };
    received.push(one);
    for (const look of [...waiting]) look();
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const taken = (server.address() as AddressInfo).port;

  const once: Receiver['once'] = (what, enough, withinMs = 60_000) =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (!enough(received)) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve(received);
      };
      const timer = setTimeout(() => {
        waiting.delete(look);
        reject(new Error(`The receiver got ${received.length} requests and not ${what}.`));
      }, withinMs);
      waiting.add(look);
      look();
    });

  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  closes.push(close);

  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    received,
    next: async (count, withinMs) =>
      (await once(`${count} in all`, (all) => all.length >= count, withinMs)).slice(0, count),
    once,
    close,
  };
}
