import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterAll } from 'vitest';

/** A received request with the bytes of its body. */
type Received = { method: string; path: string; headers: IncomingHttpHeaders; raw: Buffer };

/** A receiver on the loopback, and the requests and connections that it received. */
export type Receiver = { url: string; port: number; received: Received[]; connections: Socket[] };

const servers: { server: Server; connections: Socket[] }[] = [];

afterAll(async () => {
  for (const { server, connections } of servers) {
    for (const connection of connections) connection.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server, host: string, port: number): Promise<Omit<Receiver, 'received'>> {
  const connections: Socket[] = [];
  server.on('connection', (connection) => {
    connection.on('error', () => {});
    connections.push(connection);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  servers.push({ server, connections });
  const taken = (server.address() as AddressInfo).port;
  return { url: `http://${host}:${taken}/hooks`, port: taken, connections };
}

/** Starts an HTTP receiver. It answers 204 by default; an `answer` that does nothing hangs. */
export async function startReceiver(
  answer: (response: ServerResponse) => void = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, raw: Buffer.concat(chunks) });
    answer(response);
  });
  return { ...(await listen(server, '127.0.0.1', 0)), received };
}

/** Starts a TCP server, which by default sends nothing. */
export async function startSocket(
  speak: (connection: Socket) => void = () => {},
  { host = '127.0.0.1', port = 0 } = {},
): Promise<Omit<Receiver, 'received'>> {
  return listen(createTcpServer(speak), host, port);
}

/** A certificate of `certificates/`, or the key of all of them. */
export const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');

/** Starts a TLS server with a certificate, which by default sends nothing. */
export async function startTls(
  certificate: string,
  speak: (connection: TLSSocket) => void = () => {},
  options: TlsOptions = {},
): Promise<Omit<Receiver, 'received'>> {
  const server = createTlsServer({ key: pem('key'), cert: pem(certificate), ...options }, (connection) => {
    connection.on('error', () => {});
    speak(connection);
  });
  const listening = await listen(server, '127.0.0.1', 0);
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

/** Returns a port of the loopback without a server. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
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
