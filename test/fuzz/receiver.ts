import { startLoopbackServer } from '../servers/loopback.ts';

/** A receiver of webhooks: its `host:port`, and the number of requests to each path. */
export type Receiver = { host: string; posts: Map<string, number>; close: () => Promise<void> };

/** Starts a receiver on the loopback that responds 204 to all requests. */
export async function startReceiver(): Promise<Receiver> {
  const posts = new Map<string, number>();
  const { url, close } = await startLoopbackServer((request, response) => {
    const path = request.url as string;
    posts.set(path, (posts.get(path) ?? 0) + 1);
    request.resume().once('end', () => response.writeHead(204).end());
  });
  return { host: new URL(url).host, posts, close };
}
