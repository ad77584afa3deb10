import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { ulid as ulidAt } from 'ulid';
import * as v from 'valibot';
import { type Context, createContext } from '../../lib/context.ts';
import type { TaskEvent } from '../../lib/contract/events.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryRecord, NewWebhook, Webhook } from '../../lib/contract/webhooks.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import type { Counts } from '../../lib/deployment/metrics.ts';
import type { DelayedMessage, QueueSender } from '../../lib/sqs/queue.ts';
import type { Table } from '../../lib/table/client.ts';
import { type DeliveryQueue, deliveryQueues } from '../../lib/webhooks/attempt-messages.ts';
import { deliverWebhook } from '../../lib/webhooks/deliver-webhook.ts';
import { type Change, publishEvents } from '../../lib/webhooks/publish-events.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';
import type { Outcome, Post, Sender } from '../../lib/webhooks/sender.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';
import { clockAt, openService } from '../service.ts';
import { dumpOf } from '../table-dump.ts';
import { createTemporaryFolder } from '../temporary-files.ts';
import { type DeliveryState, type LoggedAttempt, stateOf } from './logged-attempts.ts';
import { createManualTimers } from './manual-timers.ts';

/** When every webhooks opens. */
export const startTime = Date.parse('2026-03-01T12:00:00.000Z');

/** An organization's webhooks and deliveries: by the very stores of the service, with a queue that can be read. */
export type TestWebhooks = ReturnType<typeof testWebhooksOf>;

/** How many attempts of one slow webhook may run at the same time in an webhooks. */
export const slowAttempts = 3;

/**
 * Opens a new table and returns what makes an organization in it, each with a clock of its own. The table's stream is
 * off, for nothing here reads it.
 */
export async function prepareTestWebhooks(): Promise<() => TestWebhooks> {
  const { table } = await openService();
  const StreamSpecification = { StreamEnabled: false };
  await table.client.send(new UpdateTableCommand({ TableName: table.name, StreamSpecification }));
  return () => testWebhooksOf(table);
}

function testWebhooksOf(table: Table) {
  const organization = `org-${randomUUID()}` as Organization;
  const clock = clockAt(startTime);
  const queue = listingQueue();
  const { startTimer, timers } = createManualTimers();
  const key = { [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key') };
  const variables: Record<string, string | undefined> = {
    ...key,
    [environment.allowedReceivers]: '127.0.0.1:*',
    [environment.normalAttempts]: '5',
    [environment.slowAttempts]: String(slowAttempts),
  };
  const createContainer = (): Context => ({
    ...createContext({ environment: variables, clock, table, queues: queue.queues }),
    ulid: () => ulidAt(clock()),
    startTimer,
  });
  const context = { ...createContainer(), clock };

  const webhooks = {
    ...context,
    organization,
    queue,
    /** Creates the context of another container, which knows nothing of the attempts under way in this one. */
    createContainer,

    /** Makes the attempt of a message with a sender of the test. */
    deliver: (message: DeliveryMessage, sender: Sender, container: Context = context): Promise<Counts> =>
      deliverWebhook({ ...container, sender }, message),

    /** Removes the key of the secrets from the environment, as if the deployment had none. */
    removeKey: () => {
      variables[environment.secretsKeyFile] = undefined;
    },

    /** Names the key of the secrets again. */
    restoreKey: () => void Object.assign(variables, key),

    /** The timers of attempts, which fire after 2 s. */
    timers,

    /** Registers a webhook; what is not named is that of a plain one. */
    register: (fields: Partial<NewWebhook> = {}): Promise<Webhook> =>
      registerWebhook(
        context,
        organization,
        { url: 'https://example.com/hooks', events: ['task.created'], ...fields },
        undefined,
      ),

    /** A new task as a change: now, unless it is told otherwise. */
    change: (event: TaskEvent['event'] = 'task.created', occurredAt = timestamp(clock())): Change => {
      const item = `tk_${context.ulid()}`;
      const data = { task: { id: item, title: 'A task', status: 'backlog' as const }, occurredAt };
      return { organization, item, version: 1, events: [{ event, data }] };
    },

    /** Publishes a change and returns the messages that this put in the queue. */
    publish: async (change: Change = webhooks.change()): Promise<DeliveryMessage[]> => {
      const before = queue.sent.length;
      await publishEvents(context, change);
      return queue.sent.slice(before).map(({ message }) => message);
    },

    /** Registers a webhook and publishes an event for it: the one message of it. */
    message: async (fields: Partial<NewWebhook> = {}): Promise<DeliveryMessage> => {
      await webhooks.register(fields);
      const [message] = await webhooks.publish();
      return message as DeliveryMessage;
    },

    /** Makes a delivery's attempts, each when it is due, until no message follows; the clock moves along. */
    attemptAll: async (message: DeliveryMessage, send: Sender): Promise<void> => {
      for (let next: DeliveryMessage | undefined = message; next; ) {
        clock.now = Math.max(clock.now, Date.parse(next.dueAt));
        const before = queue.sent.length;
        await webhooks.deliver(next, send);
        next = queue.sent[before]?.message;
      }
    },

    /** The state of a delivery and its next attempt, or its last one. */
    delivery: async ({ webhookId, deliveryId }: DeliveryMessage): Promise<DeliveryState> => {
      const rows = Object.values(await webhooks.dump()) as LoggedAttempt[];
      const own = rows.filter(({ pk, sk }) => pk.endsWith(`#WD#${ulidOf(webhookId)}`) && sk.startsWith('A#'));
      return stateOf(own.filter((row) => row.deliveryId === deliveryId));
    },

    /** The newest 100 attempts of a webhook. */
    history: async (id: string): Promise<DeliveryRecord[]> =>
      (await listDeliveries(context, organization, id, { limit: 100, offset: 0 })).items,

    /** Everything that the organization has in the table. */
    dump: () => dumpOf(table, organization),
  };
  return webhooks;
}

/** Queues whose messages a test can read, and that can fail the next time. */
function listingQueue() {
  const sent: (DelayedMessage<DeliveryMessage> & { to: DeliveryQueue })[] = [];
  const senderOf =
    (to: DeliveryQueue): QueueSender =>
    async (messages) => {
      if (queue.failsOnce && messages.length > 0) {
        queue.failsOnce = false;
        throw new Error('The queue is away.');
      }
      sent.push(
        ...messages.map(({ message, delaySeconds }) => ({
          to,
          message: v.parse(DeliveryMessage, message),
          delaySeconds,
        })),
      );
    };
  const queue = {
    /** All messages, in the order in which they were sent. */
    sent,
    failsOnce: false,
    queues: new Map(deliveryQueues.map((name) => [name, senderOf(name)])),
  };
  return queue;
}

/** A sender that only notes what it would post, and ends as it is told; `meanwhile` happens while it posts. */
export function notingSender(outcome: Partial<Outcome> = {}, meanwhile: () => unknown = () => {}) {
  const posts: Post[] = [];
  const send: Sender = async (post) => {
    posts.push(post);
    await meanwhile();
    return { httpStatus: 204, durationMs: 5, timedOut: false, responseBody: '', ...outcome };
  };
  return { posts, send };
}

/** How a sender ends whose receiver has answered 500. */
export const failed = { httpStatus: 500, error: 'The receiver answered 500.' };
