import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterAll } from 'vitest';

/** A received request: its time, and its body as bytes and as a delivery. */
export type Received = {
  at: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders & Record<string, string>;
  raw: Buffer;
  readonly body: Delivered;
};

type Delivered = {
  event: string;
  deliveryId: string;
  timestamp: string;
  data: { task: Record<string, string>; execution: Record<string, unknown>; occurredAt: string };
};

/** A server on the loopback, and the connections that it accepted. It ends with this process at the latest. */
type Listening = { url: string; port: number; connections: Socket[]; close: () => Promise<void> };

/** A receiver of webhooks, and all requests that it received. */
export type Receiver = Listening & {
  received: Received[];
  /** Resolves with the first `count` requests; fails when they do not come in time. */
  next: (count: number, withinMs?: number) => Promise<Received[]>;
  /** Resolves with all requests once they satisfy a condition. */
  once: (what: string, enough: (received: Received[]) => boolean, withinMs?: number) => Promise<Received[]>;
};

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<Listening> {
  const connections: Socket[] = [];
  server.on('connection', (connection) => {
    connection.on('error', () => {}).unref();
    connections.push(connection);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const taken = (server.unref().address() as AddressInfo).port;
  const close = () => {
    for (const connection of connections) connection.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://${host}:${taken}/hooks`, port: taken, connections, close };
}

/** Starts an HTTP receiver. It answers 204 by default; an `answer` that does nothing hangs. */
export async function startReceiver(
  answer: (response: ServerResponse) => void = (response) => response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const { method = '', url: path = '' } = request;
    received.push({
      ...{ at: Date.now(), method, path, headers: request.headers as Received['headers'], raw },
      get body() {
        return JSON.parse(raw.toString('utf8')) as Delivered;
      },
    });
    arrivals.emit('one');
    answer(response);
  });

  const arrived: Receiver['once'] = async (what, enough, withinMs = 60_000) => {
    const signal = AbortSignal.timeout(withinMs);
    while (!enough(received))
      await once(arrivals, 'one', { signal }).catch(() => {
        throw new Error(`The receiver got ${received.length} requests and not ${what}.`);
      });
    return received;
  };
  return {
    ...(await listen(server, '127.0.0.1', port)),
    received,
    once: arrived,
    next: async (count, withinMs) =>
      (await arrived(`${count} in all`, (all) => all.length >= count, withinMs)).slice(0, count),
  };
}

/** Starts a TCP server, which by default sends nothing. */
export async function startSocket(
  speak: (connection: Socket) => void = () => {},
  { host = '127.0.0.1', port = 0 } = {},
): Promise<Listening> {
  return listen(createTcpServer(speak), host, port);
}

/**
 * Starts a receiver that reads requests with the body `{}`, and gives the connection and the number of each, from 1 on, to
 * `answer`. Returns the heads of the requests too.
 */
export async function startAnswering(answer: (connection: Socket, nth: number) => void, host = '127.0.0.1', port = 0) {
  const heads: string[] = [];
  const receiver = await startSocket(
    (connection) => {
      let read = '';
      connection.on('data', (data) => {
        read += data;
        if (!read.endsWith('\r\n\r\n{}')) return;
        heads.push(read);
        read = '';
        answer(connection, heads.length);
      });
    },
    { host, port },
  );
  return { ...receiver, heads };
}

/** A certificate of `certificates/`, or the key of all of them. */
export const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');

/** Starts a TLS server with a certificate, which by default sends nothing. */
export async function startTls(
  certificate: string,
  speak: (connection: TLSSocket) => void = () => {},
  options: TlsOptions = {},
): Promise<Listening> {
  const server = createTlsServer({ key: pem('key'), cert: pem(certificate), ...options }, (connection) => {
    connection.on('error', () => {});
    speak(connection);
  });
  const listening = await listen(server);
  return { ...listening, url: listening.url.replace('http:', 'https:') };
}

/** Waits until the sender has closed every connection. A socket that is not read from would not notice. */
export async function expectClosed({ connections }: Pick<Receiver, 'connections'>): Promise<void> {
  const closed = (connection: Socket) => new Promise((resolve) => connection.resume().once('close', resolve));
  await Promise.all(connections.filter(({ destroyed }) => !destroyed).map(closed));
}

/** Returns the list of sockets that this thread opens without TLS, until all tests of the file are over. */
export function openedSockets(): Socket[] {
  const sockets: Socket[] = [];
  const note = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', note);
  afterAll(() => {
    unsubscribe('net.client.socket', note);
  });
  return sockets;
}

export async function closedPort(): Promise<number> {
  const { port, close } = await startSocket();
  await close();
  return port;
}

/** Writes a text at an interval until the connection closes. */
export function drip(to: ServerResponse | Socket, text: string, everyMs = 10): void {
  const timer = setInterval(() => to.write(text), everyMs);
  to.on('close', () => clearInterval(timer));
}

/** Writes something repeatedly, as fast as the other side reads, until the connection closes. */
export function flood(to: Socket, repeated: string | Buffer): void {
  const text = typeof repeated === 'string';
  const block = text ? repeated.repeat(Math.ceil((64 * 1024) / repeated.length)) : repeated;
  const more = () => {
    while (!to.destroyed && to.write(block));
  };
  to.on('drain', more);
  more();
}
