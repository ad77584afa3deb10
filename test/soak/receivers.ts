import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { startLoopbackServer } from '../servers/loopback.ts';
import { nameOf } from '../webhooks/deliveries/check-pipeline.ts';
import { type ServiceClock, trueTimeOf } from './clock/service-clock.ts';
import type { ReceiverFault } from './plan.ts';
import { between, type Random } from './random.ts';

export type Post = {
  deliveryId: string;
  /** The name of the event in the check of deliveries. */
  name: string;
  /** The time of the change, by the clock of the service, in milliseconds since 1970. */
  occurredAt: number;
  /** The timestamp of the body, by the clock of the service, and its true time; in milliseconds since 1970. */
  stampedAt: number;
  sentAt: number;
  /** When the receiver has responded or closed the connection, in milliseconds since 1970. */
  endedAt: number;
};

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

export async function startReceiver(random: Random, { steps }: Pick<ServiceClock, 'steps'>): Promise<Receiver> {
  const posts: Post[] = [];
  let coming: ReceiverFault['kind'][] = [];
  let downUntil = 0;

  const { url, close } = await startLoopbackServer((request, response) => {
    void take(request, response).catch(() => response.destroy());
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request));
    const stampedAt = Date.parse(body.timestamp);
    const post: Post = {
      deliveryId: request.headers['x-service-delivery'] as string,
      name: nameOf(body.event, body.data),
      occurredAt: Date.parse(body.data.occurredAt),
      stampedAt,
      sentAt: trueTimeOf(stampedAt, steps, Date.now()),
      endedAt: Number.POSITIVE_INFINITY,
    };
    posts.push(post);
    await answer(response);
    post.endedAt = Date.now();
  }

  async function answer(response: ServerResponse): Promise<void> {
    const send = (status: number) => void response.writeHead(status).end();
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
