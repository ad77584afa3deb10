import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { startLoopbackServer } from '../../../servers/loopback.ts';
import type { ReceiverMode } from '../sequence.ts';

/** A request that a receiver got: when, of which delivery, and whether it was answered with 204. */
type Post = { at: number; deliveryId: string; isTaken: boolean };

/** The receivers of many webhooks on one port, by names. */
export type Receivers = {
  urlOf: (name: string) => string;
  set: (name: string, mode: ReceiverMode) => void;
  postsOf: (name: string) => readonly Post[];
  close: () => Promise<void>;
};

/** How long a slow receiver takes, in milliseconds: longer than the time after which a webhook counts as slow. */
const slowMs = 2_300;

/** Starts receivers that answer with 204 until they are set otherwise. */
export async function startReceivers(): Promise<Receivers> {
  const modes = new Map<string, ReceiverMode>();
  const posts = new Map<string, Post[]>();
  const server = await startLoopbackServer(async (request, response) => {
    response.on('error', () => {});
    const name = request.url?.slice(1) ?? '';
    const { deliveryId } = JSON.parse(await text(request));
    const mode = modes.get(name) ?? 'healthy';
    const post = { at: Date.now(), deliveryId, isTaken: mode !== 'failing' };
    posts.set(name, [...(posts.get(name) ?? []), post]);
    if (mode === 'slow') await pause(slowMs);
    response.writeHead(post.isTaken ? 204 : 500).end();
  });
  return {
    urlOf: (name) => `${server.url}/${name}`,
    set: (name, mode) => void modes.set(name, mode),
    postsOf: (name) => posts.get(name) ?? [],
    close: server.close,
  };
}
