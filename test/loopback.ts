import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on a free port of the loopback. */
export type LoopbackServer = { url: string; port: number; close: () => Promise<void> };

/** Starts an HTTP server on the loopback. `close` ends its connections too. */
export async function startLoopbackServer(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}`, port, close };
}

/** Sends a request that a proxy has received, with its body, to the table's engine. */
export async function forward(engine: string, { headers }: IncomingMessage, body: Buffer) {
  const { host: _, connection: __, 'content-length': ___, ...rest } = headers;
  const answer = await fetch(engine, { method: 'POST', headers: rest as Record<string, string>, body });
  return { status: answer.status, text: Buffer.from(await answer.arrayBuffer()) };
}

/** Returns the operation of a request to DynamoDB, such as `PutItem`. */
export const operationOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target']).split('.')[1] ?? '';
