import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventName } from '../../lib/contract/events.ts';
import { startLoopbackServer } from '../loopback.ts';
import type { ReceiverFault } from './plan.ts';
import { between, type Random } from './random.ts';

/** A request in the log of a receiver. */
export type Post = {
  deliveryId: string;
  event: EventName;
  /** The task or the execution of the event. */
  about: { id: string; status: string };
  /** The timestamp of the body, in milliseconds since 1970. */
  sentAt: number;
  /** When the receiver has responded or closed the connection, in milliseconds since 1970. */
  endedAt: number;
  /** The status of the response; 0 for none. */
  status: number;
};

/** A receiver, and its log. */
export type Receiver = {
  url: string;
  posts: Post[];
  cause: (fault: ReceiverFault) => void;
  /** Drops the faults that have not happened yet. */
  relent: () => void;
  close: () => Promise<void>;
};

/** Longer than the timeout of an attempt, in milliseconds: the service closes the connection. */
const hangingMs = 15_000;

/** Starts a receiver on the loopback. */
export async function startReceiver(random: Random): Promise<Receiver> {
  const posts: Post[] = [];
  let coming: ReceiverFault['kind'][] = [];
  let downUntil = 0;

  const { url, close } = await startLoopbackServer((request, response) => {
    void take(request, response).catch(() => response.destroy());
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request));
    const post: Post = {
      deliveryId: request.headers['x-service-delivery'] as string,
      event: body.event,
      about: body.data.task ?? body.data.execution,
      sentAt: Date.parse(body.timestamp),
      endedAt: Number.POSITIVE_INFINITY,
      status: 0,
    };
    posts.push(post);
    await answer(post, response);
    post.endedAt = Date.now();
  }

  async function answer(post: Post, response: ServerResponse): Promise<void> {
    const send = (status: number) => {
      post.status = status;
      response.writeHead(status).end();
    };
    if (Date.now() < downUntil) return send(500);
    switch (coming.shift()) {
      case 'receiver resets':
        return void response.socket?.resetAndDestroy();
      case 'receiver hangs up':
        return void response.destroy();
      case 'receiver hangs':
        await Promise.race([pause(hangingMs), new Promise((resolve) => response.once('close', resolve))]);
        return void response.destroy();
      case 'receiver slow':
        await pause(between(random, 300, 3_000));
        return send(200);
      default:
        return send(204);
    }
  }

  return {
    url,
    posts,
    cause: (fault) => {
      if (fault.kind === 'receiver down') downUntil = Date.now() + fault.forMs;
      else coming.push(...Array<ReceiverFault['kind']>(fault.requests).fill(fault.kind));
    },
    relent: () => {
      coming = [];
      downUntil = 0;
    },
    close,
  };
}
