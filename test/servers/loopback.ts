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

/** Returns the operation of a request to DynamoDB, such as `PutItem`. */
export const operationOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target']).split('.')[1] ?? '';
