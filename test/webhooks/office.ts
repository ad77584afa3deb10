import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { ulid as ulidAt } from 'ulid';
import * as v from 'valibot';
import type { TaskEvent } from '../../lib/contract/events.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryRecord, NewWebhook, Webhook } from '../../lib/contract/webhooks.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { DeliveryMessage, type SentDelivery } from '../../lib/deployment/messages.ts';
import type { Waiting } from '../../lib/sqs/queue.ts';
import { openAttemptCounts } from '../../lib/table/attempt-counts.ts';
import { openAttemptLog } from '../../lib/table/attempt-log.ts';
import type { Table } from '../../lib/table/client.ts';
import { openEventLog } from '../../lib/table/event-log.ts';
import { openSubscriptions } from '../../lib/table/subscriptions.ts';
import { openWebhookAttempts } from '../../lib/table/webhook-attempts.ts';
import { readAllowedReceivers } from '../../lib/webhooks/allowed-receivers.ts';
import { openDeliveries } from '../../lib/webhooks/deliveries.ts';
import type { Change } from '../../lib/webhooks/publisher.ts';
import { registerWebhook } from '../../lib/webhooks/registration.ts';
import { readRetrySchedule } from '../../lib/webhooks/retry-schedule.ts';
import type { Outcome, Post, Sender } from '../../lib/webhooks/sender.ts';
import { openDeliverySweep } from '../../lib/webhooks/sweep.ts';
import { openVerification } from '../../lib/webhooks/verification.ts';
import { type DeliveryQueues, deliveryQueues } from '../../lib/webhooks/wake-ups.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';
import { clockAt, openService } from '../service.ts';
import { dumpOf } from '../table-dump.ts';
import { createTemporaryFolder } from '../temporary-files.ts';
import { type DeliveryState, type LoggedAttempt, stateOf } from './logged-attempts.ts';
import { createManualTimers } from './manual-timers.ts';

/** When every office opens. */
export const opening = Date.parse('2026-03-01T12:00:00.000Z');

/** An organization's webhooks and deliveries: by the very stores of the service, with a queue that can be read. */
export type Office = ReturnType<typeof officeOf>;

/** How many attempts of one slow webhook may run at the same time in an office. */
export const slowAttempts = 3;

/**
 * Opens a new table and returns what makes an organization in it, each with a clock of its own. The table's stream is
 * off, for nothing here reads it.
 */
export async function openOffices(): Promise<() => Office> {
  const { table } = await openService();
  const StreamSpecification = { StreamEnabled: false };
  await table.client.send(new UpdateTableCommand({ TableName: table.name, StreamSpecification }));
  return () => officeOf(table);
}

function officeOf(table: Table) {
  const organization = `org-${randomUUID()}` as Organization;
  const clock = clockAt(opening);
  const ulid = () => ulidAt(clock());
  const webhookAttempts = openWebhookAttempts(table);
  const logs = { events: openEventLog(table), attempts: openAttemptLog(table), webhooks: openSubscriptions(table) };
  const key = { [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key') };
  const queue = listingQueue();
  const { startTimer, timers } = createManualTimers();
  const allowedReceivers = readAllowedReceivers('127.0.0.1:*');
  const context = {
    table,
    clock,
    ulid,
    variables: { ...key } as Record<string, string | undefined>,
    clients: {},
    secretKeys: new Map(),
    decryptedSecrets: new Map(),
    allowedReceivers,
    startTimer,
  };
  const openContainer = () =>
    openDeliveries({
      ...logs,
      counts: openAttemptCounts(table),
      webhooks: { ...logs.webhooks, ...webhookAttempts },
      queues: queue.queues,
      secrets: context,
      retrySchedule: readRetrySchedule(undefined),
      limits: { prompt: 5, slow: slowAttempts },
      clock,
      startTimer,
    });
  const deliveries = openContainer();
  const verification = openVerification(logs);
  const sweep = openDeliverySweep({ table, verification, wake: deliveries.wake, clock });

  const office = {
    organization,
    /** Removes the key of the secrets from the environment, as if the deployment had none. */
    removeKey: () => {
      context.variables[environment.secretsKeyFile] = undefined;
    },

    /** Names the key of the secrets again. */
    restoreKey: () => void Object.assign(context.variables, key),

    /** The timers of attempts, which fire after 2 s. */
    timers,
    ...context,
    queue,
    webhookAttempts,
    deliveries,
    /** Opens the deliveries of another container, which knows nothing of what this one has in hand. */
    openContainer,
    attempts: logs.attempts,
    verification,
    sweep,

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
      const item = `tk_${ulid()}`;
      const data = { task: { id: item, title: 'A task', status: 'backlog' as const }, occurredAt };
      return { organization, item, version: 1, events: [{ event, data }] };
    },

    /** Publishes a change and returns the messages that this put in the queue. */
    publish: async (change: Change = office.change()): Promise<DeliveryMessage[]> => {
      const before = queue.sent.length;
      await deliveries.publish(change);
      return queue.sent.slice(before).map(({ message }) => message);
    },

    /** Registers a webhook and publishes an event for it: the one message of it. */
    message: async (fields: Partial<NewWebhook> = {}): Promise<DeliveryMessage> => {
      await office.register(fields);
      const [message] = await office.publish();
      return message as DeliveryMessage;
    },

    /** Makes a delivery's attempts, each when it is due, until it wakes nobody any more; the clock moves along. */
    attemptAll: async (message: DeliveryMessage, send: Sender): Promise<void> => {
      for (let next: DeliveryMessage | undefined = message; next; ) {
        clock.now = Math.max(clock.now, Date.parse(next.dueAt));
        const before = queue.sent.length;
        await deliveries.attempt(next, send);
        next = queue.sent[before]?.message;
      }
    },

    /** The state of a delivery and its next attempt, or its last one. */
    delivery: async ({ webhookId, deliveryId }: DeliveryMessage): Promise<DeliveryState> => {
      const rows = Object.values(await office.dump()) as LoggedAttempt[];
      const own = rows.filter(({ pk, sk }) => pk.endsWith(`#WD#${ulidOf(webhookId)}`) && sk.startsWith('A#'));
      return stateOf(own.filter((row) => row.deliveryId === deliveryId));
    },

    /** The newest 100 attempts of a webhook. */
    history: async (id: string): Promise<DeliveryRecord[]> =>
      (await listDeliveries(context, organization, id, { limit: 100, offset: 0 })).items,

    /** Everything that the organization has in the table. */
    dump: () => dumpOf(table, organization),
  };
  return office;
}

/** Queues whose messages can be read, and that can be made to fail the next time. */
function listingQueue() {
  const sent: (Waiting<DeliveryMessage> & { to: keyof DeliveryQueues })[] = [];
  const listing = (to: keyof DeliveryQueues) => ({
    send: async (messages: readonly Waiting<SentDelivery>[]) => {
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
    },
  });
  const queue = {
    /** All that was sent, to whichever queue, in its order. */
    sent,
    failsOnce: false,
    queues: Object.fromEntries(deliveryQueues.map((name) => [name, listing(name)])) as DeliveryQueues,
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
