import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of webhooks on the loopback that responds 204 to all requests. */
export type Receiver = {
  /** Its `host:port`. */
  host: string;
  /** The number of requests to each path. */
  posts: Map<string, number>;
  close: () => void;
};

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const posts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url as string;
    posts.set(path, (posts.get(path) ?? 0) + 1);
    request.resume().once('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, posts, close };
}
