import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { SQSBatchResponse } from 'aws-lambda';
import * as v from 'valibot';
import type { QueueSender } from '../../../lib/aws/queue.ts';
import { type Context, createContext } from '../../../lib/context/context.ts';
import { ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { TaskEvent } from '../../../lib/contract/webhooks/events.ts';
import { environment } from '../../../lib/names/environment.ts';
import { type DeliveryMessage, DeliveryOrOrder, type Order } from '../../../lib/names/messages.ts';
import type { QueueName } from '../../../lib/names/queues.ts';
import type { Outcome, Post } from '../../../lib/sender/sender.ts';
import { createShards } from '../../../lib/table/access/shards.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { storeStepsBeforeWrites } from '../../../lib/table/events/log-times.ts';
import { deliveryIdOf, eventIdOf } from '../../../lib/webhooks/attempts/derived-ids.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { type Change, publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { carryOut } from '../../../lib/webhooks/orders/carry-out.ts';
import { isAwaited, startAwaited } from '../../../lib/webhooks/orders/start-awaited.ts';
import { createMemoryTable, type MemoryTable } from '../../table/fixtures/memory-table.ts';
import { createChange, failed } from '../test-webhooks.ts';
import { type Calls, createCalls, never, type Process } from './calls.ts';
import type { ReceiverMode, Sequence } from './sequence.ts';

/** The limits of concurrent attempts of one webhook: in one process, and, while it is slow, in all. */
export const attemptLimits = { normal: 5, slow: 3 };

/** A webhook with its receiver. Moments are milliseconds of the monotonic clock. */
export type TestWebhook = {
  id: string;
  /** The events to which it is subscribed. */
  events: TaskEvent['event'][];
  /** The secrets that rotations have set: when each was requested, and when it was stored at the latest. */
  secrets: { text: string; from: number; storedAt: number }[];
  receiver: { mode: ReceiverMode; slowSince?: number };
  /** The deliveries that a caller has requested again. */
  requested: Set<string>;
  /** Whether it recovers by itself what it has missed. */
  autoRecover: boolean;
  /** The maximum rates that applied from a moment on: several, while a request changes it, and after two changes at once. */
  rates: { from: number; any: (number | null)[] }[];
  /** The number of requests to change the rate that run. */
  rateChanges: number;
  /**
   * The requested pauses, each up to the answer to the next request to resume. A pause whose request failed may still be
   * carried out, even after that.
   */
  pauses: { from: number; until: number; isDone: boolean }[];
  deletedAt?: number;
};

/** The handling of a message by a process, and its end; it is lost until there is another one. */
type Handling = { process: Process; message: DeliveryMessage; end: 'lost' | 'done' | 'failed' };

/** A post that a receiver has got. */
export type Received = {
  webhook: TestWebhook;
  deliveryId: string;
  handling: Handling;
  begunAt: number;
  /** By the clock that the service reads. */
  begunTime: number;
  endsAt: number;
  mode: ReceiverMode;
  /** The secrets of rotations with which it is signed. */
  signedWith: string[];
  /** Since when its receiver has been slow, if a process that has not died has seen it. */
  slowSince: number | undefined;
};

/** An event that was committed; `time` is the time of its id. */
export type TestEvent = { id: string; event: TaskEvent['event']; item: string; at: number; time: number };

/** Returns the function by which a world sends commands to its table. */
export type SendVia = (table: MemoryTable) => (command: object) => object | Promise<object>;

/** The world of a sequence: the table, the receivers, and what has happened. It outlives all processes. */
export type World = ReturnType<typeof createWorld>;

/** Returns the time of the monotonic clock. */
export const moment = () => performance.now();

/** Waits for a time. */
export const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** The key that encrypts secrets, which the processes do not have to read from its file. */
const secretsKey = { name: 'secrets.key', key: Buffer.alloc(32) };

/** The name of the table in commands. */
export const testTableName = 'table';

const handlings = new AsyncLocalStorage<Handling>();

/** Creates a world; `via` sends the commands to its table. */
export function createWorld({ deployment, order, rates }: Sequence, via: SendVia = (table) => table.send) {
  const calls: Calls = createCalls(order);
  const organization = 'acme' as Organization;
  const table = createMemoryTable();
  const sendToTable = withStream(via(table));
  const randomBytes = () => Uint8Array.from({ length: 10 }, () => Math.floor(calls.random() * 256));
  const ulid = () => ulidFrom(Date.now(), randomBytes());
  const webhooks: TestWebhook[] = rates.map((rate, at) => ({
    id: `wh_${ulid()}`,
    events: at === 0 ? ['task.created'] : ['task.created', 'task.completed'],
    secrets: [],
    receiver: { mode: 'healthy' },
    requested: new Set(),
    autoRecover: order % 3 === 0,
    rates: [{ from: moment(), any: [rate] }],
    rateChanges: 0,
    pauses: [],
  }));
  const received: Received[] = [];
  const events: TestEvent[] = [];
  const changes: (Change | Item)[] = [];
  let signalled = Promise.withResolvers<void>();
  /** The differences between the clock and the monotonic one that a step has made. */
  const clockSteps: { at: number; ms: number }[] = [];

  const world = {
    calls,
    organization,
    table,
    webhooks,
    received,
    events,
    /** The stream of the table: the committed changes, and the new items that users wait for. */
    changes,
    clockSteps,
    /** When the cancellation of each recovery was answered, by their ULIDs. */
    cancelled: new Map<string, number>(),
    /** What went wrong before the end. */
    wrong: [] as string[],
    /** A context for reads of the test, which are no calls of a process. */
    reader: contextOf({ send: async (command: object) => table.send(command) }, new Map()),

    /** Creates the context of a process. */
    context: (process: Process, queues: Map<QueueName, QueueSender>): Context => {
      const send = (command: object) => calls.make(process, () => sendToTable(command));
      const context = { ...contextOf({ send }, queues), pause: wait, sender: (post: Post) => receive(process, post) };
      context.ulid = () => ulidFrom(context.clock(), randomBytes());
      storeStepsBeforeWrites(context);
      return context;
    },

    /** Commits a change that publishes an event, with the time of its request. */
    commit(event: TaskEvent['event'] = 'task.created', { time, at } = { time: Date.now(), at: moment() }): void {
      const item = `tk_${ulid()}`;
      const id = eventIdOf(time, { item, version: 1, event });
      events.push({ id, event, item, at, time });
      changes.push(createChange(organization, event, time, item));
      world.signal();
    },

    /** Ends the waits for a change of the stream. */
    signal(): void {
      signalled.resolve();
      signalled = Promise.withResolvers<void>();
    },

    nextSignal: (): Promise<void> => signalled.promise,

    webhookAt: (number: number): TestWebhook => webhooks[number % webhooks.length] as TestWebhook,

    stepClock(ms: number, set: (time: number) => void): void {
      clockSteps.push({ at: moment(), ms });
      set(Date.now() + ms);
    },
  };
  return world;

  function contextOf(client: object, queues: Map<QueueName, QueueSender>): Context {
    const context = createContext({
      environment: {
        [environment.secretsKeyFile]: secretsKey.name,
        [environment.normalAttempts]: String(attemptLimits.normal),
        [environment.slowAttempts]: String(attemptLimits.slow),
      },
      clock: () => Date.now(),
      monotonic: moment,
      ownsLogs: deployment === 'local',
      table: {
        name: testTableName,
        client: client as DynamoDBDocumentClient,
        sleep: () => wait(20),
        shards: createShards(),
      },
      queues,
    });
    context.secretKeys.set(secretsKey.name, secretsKey.key);
    return context;
  }

  /** Adds the new items that the stream has to the changes; half of the records of AWS are lost. */
  function withStream(send: ReturnType<SendVia>): ReturnType<SendVia> {
    return async (command) => {
      const itemOf = ({ pk, sk }: Item) => table.items().find((item) => item.pk === pk && item.sk === sk);
      const written = kindsIn(command).map((item) => ({ item, before: itemOf(item) }));
      const result = await send(command);
      const items = written.flatMap(({ item, before }) => {
        const after = itemOf(item);
        return after && isAwaited(before, after) ? [after] : [];
      });
      const recorded = items.filter(() => deployment === 'local' || calls.random() < 1 / 2);
      changes.push(...(recorded as Item[]));
      if (recorded.length > 0) world.signal();
      return result;
    };
  }

  async function receive(process: Process, { body, headers }: Post): Promise<Outcome> {
    if (process.dead) return never;
    const handling = handlings.getStore() as Handling;
    const webhook = webhooks.find(({ id }) => id === handling.message.webhookId) as TestWebhook;
    const { receiver } = webhook;
    const { mode, slowSince } = receiver;
    const durationMs = { healthy: 20, failing: 20, slow: 3_000, hanging: 10_000 }[mode];
    const { deliveryId } = JSON.parse(body);
    const signedWith = webhook.secrets.map(({ text }) => text).filter((secret) => isSigned({ body, headers }, secret));
    const moments = { begunAt: moment(), begunTime: Date.now() };
    const post = { webhook, deliveryId, handling, mode, slowSince, signedWith, ...moments };
    received.push({ ...post, endsAt: post.begunAt + durationMs });
    await Promise.race([wait(durationMs), process.died]);
    if (process.dead) return never;
    if (mode === 'slow' || mode === 'hanging') receiver.slowSince ??= post.begunAt;
    const success = { httpStatus: 204, durationMs, timedOut: false, responseBody: '' };
    if (mode === 'hanging') return { ...success, httpStatus: 0, timedOut: true, error: 'No answer within 10 s.' };
    return mode === 'failing' ? { ...success, ...failed } : success;
  }
}

/** A command that writes an item of a kind: whole, or by an update. */
type Writes = { Item?: Item; Key?: Item; ExpressionAttributeValues?: Item };

/** Returns the keys of the items with a kind that a command writes, with their kinds. */
function kindsIn({ input = {} }: { input?: Writes & { TransactItems?: Record<string, Writes>[] } }): Item[] {
  const writes = [input, ...(input.TransactItems ?? []).flatMap(Object.values)] as Writes[];
  return writes.flatMap(({ Item, Key, ExpressionAttributeValues }) => {
    const kind = Item?.kind ?? (Key && ExpressionAttributeValues?.[':kind']);
    return kind === undefined ? [] : [{ ...(Item ?? Key), kind }];
  });
}

/** Returns whether a post has the signature of a secret. */
function isSigned({ body, headers }: Pick<Post, 'body' | 'headers'>, secret: string): boolean {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return Object.values(headers).includes(signature);
}

/** Handles the messages of a batch as the consumer of the queue does. */
export async function handleMessages(
  process: Process,
  context: Context,
  records: readonly { messageId: string; body: string }[],
): Promise<SQSBatchResponse> {
  const handle = async ({ messageId, body }: { messageId: string; body: string }) => {
    const message = v.parse(DeliveryOrOrder, JSON.parse(body));
    if ('order' in message) {
      const failed = [{ itemIdentifier: messageId }];
      return carryOut(context, message as Order).then(
        () => [],
        () => failed,
      );
    }
    const handling: Handling = { process, message, end: 'lost' };
    try {
      await handlings.run(handling, () => deliverWebhook(context, message));
      handling.end = 'done';
      return [];
    } catch {
      handling.end = 'failed';
      return [{ itemIdentifier: messageId }];
    }
  };
  return { batchItemFailures: (await Promise.all(records.map(handle))).flat() };
}

/** Publishes the first changes of the stream from a position on, and returns how many of them were published. */
export async function publishFrom({ changes }: World, context: Context, position: number): Promise<number> {
  const batch = changes.slice(position, position + 100);
  const results = await Promise.allSettled(
    batch.map((change) =>
      'kind' in change ? startAwaited(context, change) : publishEvents(context, change as Change),
    ),
  );
  const failedAt = results.findIndex(({ status }) => status === 'rejected');
  return failedAt === -1 ? batch.length : failedAt;
}

/** Returns the id of the delivery of an event to a webhook. */
export const deliveryOf = ({ time, item, event }: TestEvent, { id: webhookId }: TestWebhook): string =>
  deliveryIdOf(time, { item, version: 1, event, webhookId });
