import { ulid } from 'ulid';
import * as v from 'valibot';
import type { QueueSender } from '../../../lib/aws/queue.ts';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import type { TestResult, Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { Outcome } from '../../../lib/sender/sender.ts';
import { closeAttemptCounts } from '../../../lib/table/deliveries/attempt-counts.ts';
import { insertAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import { appendEvent } from '../../../lib/table/events/event-log.ts';
import { deliveryQueues } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { firstAttemptOf } from '../../../lib/webhooks/deliveries/first-attempts.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { clockAt } from '../../service.ts';
import { attemptFor, newMessage } from '../../table/deliveries/attempt-seed.ts';
import { createChange, failed, notingSender } from '../../webhooks/test-webhooks.ts';
import type { Asked, TestOrganization } from '../test-organization.ts';

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const receiver = await startReceiver();
/** A receiver with a body in its response. */
export const answeringReceiver = await startReceiver((response) => response.end('{"received":true}'));

/** Registers a webhook for new tasks, whose receiver responds 204. */
export const register = ({ ask }: TestOrganization, fields: object = { secret }) =>
  ask<Webhook>('registerWebhook', { body: { url: receiver.url, events: ['task.created'], ...fields } });

const rotation = { body: { secret: 'the next secret' } };

export const registered = async (
  caller: TestOrganization,
  fields?: object,
): Promise<Asked & { params: { id: string } }> => {
  const { id } = await register(caller, fields);
  return { params: { id } };
};

/** Returns a request to list ten webhooks. */
const tenWebhooks = (query: string) => async (caller: TestOrganization) => {
  await caller.once('ten webhooks', async () => {
    for (let nth = 0; nth < 10; nth++) await register(caller);
  });
  return { query };
};

/** Registers a webhook with 25 attempts. */
const attempted = async (caller: TestOrganization) => {
  const asked = await registered(caller);
  for (let nth = 0; nth < 25; nth++) await caller.ask('testWebhook', { ...asked, body: { event: 'task.created' } });
  return asked;
};

/** Registers a webhook with stored numbers of attempts, and 256 later attempts with the row of a delivery. */
async function attemptedOften(caller: TestOrganization): Promise<Asked> {
  const { organization } = caller;
  const asked = await registered(caller);
  const webhookId = asked.params.id;
  const context = processContext();
  const now = context.clock();
  await closeAttemptCounts(context, organization, webhookId, now);
  const sent = {
    at: now,
    host: 'example.com',
    signed: true,
    ip: '192.0.2.7',
    dns: 9,
    connect: 21,
    tls: 44,
    firstByte: 37,
  };
  const insert = () => {
    const message = newMessage(organization, { webhookId, deliveryId: `dlv_${context.ulid()}`, dueAt: timestamp(now) });
    return insertAttempt(context, { ...attemptFor(message), sent });
  };
  await Promise.all(Array.from({ length: 256 }, insert));
  return asked;
}

/** Registers a webhook with one delivery, whose id is also a parameter. */
const delivered = async (caller: TestOrganization, url: string) => {
  const asked = await registered(caller, { url, secret });
  const { deliveryId } = await caller.ask<TestResult>('testWebhook', { ...asked, body: { event: 'task.created' } });
  return { params: { ...asked.params, deliveryId } };
};

/** Registers a webhook, and publishes events to it, of which each is delivered or has failed permanently. */
async function received(caller: TestOrganization, events: number, outcome: Partial<Outcome> = {}) {
  const { organization } = caller;
  const asked = await registered(caller, {});
  const sent: DeliveryMessage[] = [];
  const queue: QueueSender = async (messages) =>
    void sent.push(...messages.map(({ message }) => v.parse(DeliveryMessage, message)));
  const clock = clockAt(Date.now());
  const queues = new Map(deliveryQueues.map((name) => [name, queue]));
  const context = { ...processContext(), clock, queues, sender: notingSender(outcome).send };
  for (let nth = 0; nth < events; nth++, clock.now++)
    await publishEvents(context, createChange(organization, 'task.created', clock(), `tk_${context.ulid()}`));
  for (const message of sent) {
    clock.now = Math.max(clock.now, Date.parse(message.dueAt));
    await deliverWebhook(context, message);
  }
  return asked;
}

/** Registers a webhook after five events, and returns the request of a recovery that sends them. */
export async function missedFive(caller: TestOrganization) {
  const context = processContext();
  const before = context.clock() - 60_000;
  for (let nth = 0; nth < 5; nth++) {
    const change = createChange(caller.organization, 'task.created', before + nth, `tk_${context.ulid()}`);
    await publishEvents(context, change);
  }
  const asked = await registered(caller);
  return { ...asked, body: { since: timestamp(before - 60_000), include: ['never_sent'] } };
}

/** For each budget of a webhook's row: creates the items in the table, and returns the measured request. */
export const webhookScenarios = {
  registerWebhook: {
    'with a secret': async () => ({ body: { url: receiver.url, events: ['task.created'], secret } }),
    'without one, for two events': async () => ({
      body: { url: receiver.url, events: ['task.created', 'task.completed'] },
    }),
  },
  listWebhooks: {
    ten: tenWebhooks(''),
    'ten with their health': tenWebhooks('include=health'),
  },
  getWebhook: {
    one: (caller) => registered(caller),
    'with its hours, 256 attempts after the stored numbers': async (caller) => ({
      ...(await attemptedOften(caller)),
      query: 'include=hours',
    }),
  },
  updateWebhook: {
    'its URL': async (caller) => ({ ...(await registered(caller)), body: { url: `${receiver.url}/new` } }),
    'with another event': async (caller) => ({
      ...(await registered(caller)),
      body: { events: ['task.created', 'task.completed'] },
    }),
    'its filter': async (caller) => ({
      ...(await registered(caller)),
      body: { taskFilter: { projectId: 'proj_website' } },
    }),
    'to pause it': async (caller) => ({ ...(await registered(caller)), body: { active: false } }),
    nothing: async (caller) => ({ ...(await registered(caller)), body: { url: receiver.url } }),
  },
  deleteWebhook: { one: (caller) => registered(caller) },
  rotateWebhookSecret: {
    'with an overlap': async (caller) => ({ ...(await registered(caller)), ...rotation }),
    'with an Idempotency-Key': async (caller) => ({
      ...(await registered(caller)),
      ...rotation,
      headers: { 'Idempotency-Key': 'rotation' },
    }),
    'of a webhook without one': async (caller) => ({ ...(await registered(caller, {})), ...rotation }),
  },
  testWebhook: { delivered: async (caller) => ({ ...(await registered(caller)), body: { event: 'task.created' } }) },
  getDelivery: {
    'with one attempt': (caller) => delivered(caller, receiver.url),
    'with one attempt and its response': (caller) => delivered(caller, answeringReceiver.url),
  },
  listDeliveries: {
    '20 of 25': attempted,
    'with a status, of 25': async (caller) => ({ ...(await attempted(caller)), query: 'status=failed' }),
    'with a time range, of 25': async (caller) => ({
      ...(await attempted(caller)),
      query: 'since=2026-01-01T00:00:00Z&until=2999-01-01T00:00:00Z',
    }),
  },
  listWebhookEvents: {
    'the newest 20 of 25, delivered': (caller) => received(caller, 25),
    'the newest 20 of 25, each after four attempts': (caller) => received(caller, 25, failed),
    'by a state that none of 2,100 has': async (caller) => ({
      ...(await received(caller, 2_100)),
      query: 'state=skipped',
    }),
  },
  recoverWebhook: {
    'five events': missedFive,
    'five events, a dry run': async (caller) => {
      const { params, body } = await missedFive(caller);
      return { params, body: { ...body, dryRun: true } };
    },
  },
  getRecovery: { one: recovering },
  listRecoveries: {
    one: async (caller) => {
      const { params } = await recovering(caller);
      return { params: { id: params.id } };
    },
  },
  cancelRecovery: { 'of five events': recovering },
  redeliverDelivery: {
    'of a delivery that has ended': (caller) => attemptedOnce(caller),
    'in place of a retry': (caller) => attemptedOnce(caller, { retryMs: 300_000 }),
  },
} satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Asked>>>;

/** Begins a recovery of five events, and returns the request for it. */
async function recovering(caller: TestOrganization) {
  const asked = await missedFive(caller);
  const { recoveryId } = await caller.ask<RecoveryStarted>('recoverWebhook', asked);
  return { params: { id: asked.params.id, recoveryId: recoveryId as string } };
}

/** Registers a webhook, stores the failed attempt of a minute ago to it, and returns the path of its delivery. */
async function attemptedOnce(caller: TestOrganization, { retryMs }: { retryMs?: number } = {}) {
  const context = processContext();
  const at = context.clock() - 60_000;
  const [asked, id] = [await registered(caller), `ev_${ulid(at)}`];
  const { organization } = caller;
  const event = { organization, id, event: 'task.created', item: 'tk_1', version: 1, data: '{}' } as const;
  await appendEvent(context, event);
  const dueAt = timestamp(at + (retryMs ?? 0));
  const retry = retryMs === undefined ? undefined : { dueAt, listedFrom: dueAt };
  const first = firstAttemptOf(event, asked.params.id);
  await insertAttempt(context, attemptFor(first, { error: 'failed', retry }));
  return { params: { ...asked.params, deliveryId: first.deliveryId } };
}
