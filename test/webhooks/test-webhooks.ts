import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ulid as ulidAt } from 'ulid';
import * as v from 'valibot';
import type { DelayedMessage, QueueSender } from '../../lib/aws/queue.ts';
import { type Context, createContext } from '../../lib/context/context.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { TaskEvent } from '../../lib/contract/webhooks/events.ts';
import type { DeliveryRecord, NewWebhook, Webhook } from '../../lib/contract/webhooks/webhooks.ts';
import { environment } from '../../lib/names/environment.ts';
import { type DeliveryMessage, DeliveryOrOrder, type Order } from '../../lib/names/messages.ts';
import type { Counts } from '../../lib/names/metrics.ts';
import type { Outcome, Post, Sender } from '../../lib/sender/sender.ts';
import { organizationOf } from '../../lib/table/access/keys.ts';
import { type OwnEvent, ownEventFrom, ownEventKind } from '../../lib/table/webhooks/own-events.ts';
import { type DeliveryQueue, deliveryQueues } from '../../lib/webhooks/attempts/attempt-messages.ts';
import { deliverWebhook } from '../../lib/webhooks/deliveries/deliver-webhook.ts';
import { type Change, publishEvents } from '../../lib/webhooks/deliveries/publish-events.ts';
import { webhookEvents } from '../../lib/webhooks/own-events.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';
import { createManualTimers } from '../sender/manual-timers.ts';
import { clockAt, openService, type Service } from '../service.ts';
import { dumpOf } from '../table/fixtures/table-dump.ts';
import { streamed } from '../table-stream.ts';
import { createTemporaryFolder } from '../temporary-files.ts';
import { type DeliveryState, type LoggedAttempt, stateOf } from './deliveries/check-pipeline.ts';

/** The time of the clock at the start of a test. */
export const startTime = Date.parse('2026-03-01T12:00:00.000Z');

/** The webhooks and deliveries of an organization, with queues that a test can read. */
export type TestWebhooks = ReturnType<typeof testWebhooksOf>;

/** The limit of concurrent attempts of a slow webhook. */
export const slowAttempts = 3;

/** Creates a table and returns a function that creates an organization in it, each with a clock of its own. */
export async function prepareTestWebhooks(): Promise<() => TestWebhooks> {
  const service = await openService();
  return () => testWebhooksOf(service);
}

function testWebhooksOf({ table, changes }: Pick<Service, 'table' | 'changes'>) {
  const organization = `org-${randomUUID()}` as Organization;
  const clock = clockAt(startTime);
  const queue = listingQueue();
  const { startTimer, timers } = createManualTimers();
  const variables: Record<string, string | undefined> = {
    [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key'),
    [environment.allowedReceivers]: '127.0.0.1:*',
    [environment.normalAttempts]: '5',
    [environment.slowAttempts]: String(slowAttempts),
  };
  const createContainer = (): Context => ({
    ...createContext({ environment: variables, clock, table, queues: queue.queues }),
    ulid: () => ulidAt(clock()),
    startTimer,
    // Only the test moves the clock.
    pause: async () => {},
  });
  const context = { ...createContainer(), clock };

  const webhooks = {
    ...context,
    organization,
    queue,
    /** Creates the context of another container, which does not know the running attempts of this one. */
    createContainer,

    /** Makes the attempt of a message with a sender of the test; returns the counts. */
    deliver: async (message: DeliveryMessage, sender: Sender, container: Context = context): Promise<Counts> =>
      (await deliverWebhook({ ...container, sender }, message)).counts ?? {},

    variables,

    timers,

    /** Registers a webhook for new tasks, unless `fields` say otherwise. */
    register: (fields: Partial<NewWebhook> = {}): Promise<Webhook> =>
      registerWebhook(
        context,
        organization,
        { url: 'https://example.com/hooks', events: ['task.created'], ...fields },
        undefined,
      ),

    change: (event: TaskEvent['event'] = 'task.created'): Change =>
      createChange(organization, event, clock(), `tk_${context.ulid()}`),

    publish: async (change: Change = webhooks.change()): Promise<DeliveryMessage[]> => {
      const before = queue.sent.length;
      await publishEvents(context, change);
      return queue.sent.slice(before).map(({ message }) => message);
    },

    message: async (fields: Partial<NewWebhook> = {}): Promise<DeliveryMessage> => {
      await webhooks.register(fields);
      return webhooks.nextMessage();
    },

    /** Publishes an event, and returns the message for the only subscriber. */
    nextMessage: async (): Promise<DeliveryMessage> => (await webhooks.publish())[0] as DeliveryMessage,

    /** Makes the attempt of a message, and returns the number of posts and the sent messages. */
    attempt: async (message: DeliveryMessage, outcome: Partial<Outcome> = {}, container: Context = context) => {
      const before = queue.sent.length;
      const { posts, send } = notingSender(outcome);
      await webhooks.deliver(message, send, container);
      return { posts: posts.length, sent: queue.sent.slice(before) };
    },

    /** Begins an attempt, whose post lasts until `letGo` is called. */
    beginAttempt: async (message: DeliveryMessage, outcome: Partial<Outcome> = {}, container: Context = context) => {
      const posting = Promise.withResolvers<void>();
      const { promise, resolve } = Promise.withResolvers<void>();
      const { posts, send } = notingSender(outcome, () => {
        posting.resolve();
        return promise;
      });
      const ended = webhooks.deliver(message, send, container);
      await Promise.race([posting.promise, ended]);
      const letGo = async () => {
        resolve();
        await ended;
      };
      return { posts, letGo };
    },

    /** Makes the attempt of a message, of a new event by default, which fails; returns the message of the retry. */
    retry: async (message?: DeliveryMessage): Promise<DeliveryMessage> => {
      const { sent } = await webhooks.attempt(message ?? (await webhooks.message()), failed);
      return sent[0]?.message as DeliveryMessage;
    },

    /** Makes all attempts of a delivery, each when it is due. */
    attemptAll: async (message: DeliveryMessage, send: Sender): Promise<void> => {
      for (let next: DeliveryMessage | undefined = message; next; ) {
        clock.now = Math.max(clock.now, Date.parse(next.dueAt));
        const before = queue.sent.length;
        await webhooks.deliver(next, send);
        next = queue.sent[before]?.message;
      }
    },

    /** Returns the state of a delivery and its next attempt, or its last one. */
    delivery: async ({ webhookId, deliveryId }: DeliveryMessage): Promise<DeliveryState> => {
      const rows = Object.values(await webhooks.dump()) as LoggedAttempt[];
      const own = rows.filter(({ pk, sk }) => pk.endsWith(`#WD#${ulidOf(webhookId)}`) && sk.startsWith('A#'));
      return stateOf(own.filter((row) => row.deliveryId === deliveryId));
    },

    /** Returns the changes that announce events about the webhooks of the organization, oldest first. */
    ownEvents: async (): Promise<OwnEvent[]> =>
      (await streamed({ changes }, ownEventKind))
        .map(({ dynamodb }) => unmarshall(dynamodb?.NewImage as Record<string, AttributeValue>))
        .filter(({ pk }) => organizationOf(pk) === organization)
        .map(ownEventFrom),

    /** Publishes the latest event about a webhook; returns the messages of its deliveries. */
    publishOwnEvent: async (): Promise<DeliveryMessage[]> => {
      const after = (await webhooks.ownEvents()).at(-1) as OwnEvent;
      const { webhookId: item, number: version } = after;
      return webhooks.publish({ organization, item, version, events: webhookEvents(undefined, after) });
    },

    history: async (id: string): Promise<DeliveryRecord[]> =>
      (await listDeliveries(context, organization, id, { limit: 100, offset: 0 })).items,

    dump: () => dumpOf(table, organization),
  };
  return webhooks;
}

/**
 * Creates queues whose messages a test can read, in the order in which they were sent: without the contents of events, which
 * not every message of an attempt has. `contents` has them. `orders` has the orders.
 */
function listingQueue() {
  const contents: DeliveryMessage['content'][] = [];
  const sent: (DelayedMessage<DeliveryMessage> & { to: DeliveryQueue })[] = [];
  const orders: DelayedMessage<Order>[] = [];
  const senderOf =
    (to: DeliveryQueue): QueueSender =>
    async (messages) => {
      for (const { message: whole, delaySeconds } of messages) {
        const parsed = v.parse(DeliveryOrOrder, whole);
        if ('order' in parsed) {
          // No event of these tests is followed by an order of the board.
          orders.push({ message: parsed as Order, delaySeconds });
          continue;
        }
        const { content, ...message } = parsed;
        sent.push({ to, message, delaySeconds });
        contents.push(content);
      }
    };
  return { sent, orders, contents, queues: new Map(deliveryQueues.map((name) => [name, senderOf(name)])) };
}

export function createChange(organization: Organization, event: TaskEvent['event'], now: number, item: string): Change {
  const data = { task: { id: item, title: 'A task', status: 'backlog' as const }, occurredAt: timestamp(now) };
  return { organization, item, version: 1, events: [{ event, data } as TaskEvent] };
}

/** Creates a sender that only lists its posts, with this outcome. `meanwhile` runs during each post. */
export function notingSender(outcome: Partial<Outcome> = {}, meanwhile: () => unknown = () => {}) {
  const posts: Post[] = [];
  const send: Sender = async (post) => {
    posts.push(post);
    await meanwhile();
    return { httpStatus: 204, durationMs: 5, timedOut: false, responseBody: '', ...outcome };
  };
  return { posts, send };
}

export const failed = { httpStatus: 500, error: 'The receiver answered 500.' };
