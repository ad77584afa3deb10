import { randomBytes } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { clientConfig } from '../../../lib/aws/client-config.ts';
import { processContext } from '../../../lib/context/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import { timeOf, timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { NewWebhook, Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import type { Outcome } from '../../../lib/sender/sender.ts';
import { appendEvent } from '../../../lib/table/events/event-log.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { dataOf, type Request } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import type { Queues } from '../../servers/sqs-emulator.ts';
import { newCaller, type Service } from '../../service.ts';
import { notingSender } from '../../webhooks/test-webhooks.ts';
import { messagesIn } from '../pipeline/delivery-queues.ts';
import { openServiceWithQueues } from '../service-with-queues.ts';

/** A body that registers a webhook. */
export const newWebhook: NewWebhook = { url: 'https://example.com/hooks', events: ['task.created'] };

/**
 * Creates a table, a key and queues, and points the handlers of this process at them. A test file calls it once, before
 * its first request. Each `newWebhookCaller` creates an organization.
 *
 * @param more further environment variables
 */
export async function createWebhookCallers(more: Record<string, string> = {}) {
  const { service, queues } = await openServiceWithQueues(more);
  return {
    service,
    /** Counts the messages of all queues: visible, delayed and hidden. */
    queued: () => queuedIn(queues),
    newWebhookCaller: async (scopes?: readonly Scope[]) => {
      const { organization, token } = await newCaller(processContext(), scopes);
      return webhookCallerOf(service, organization, token);
    },
  };
}

async function queuedIn({ endpoint, urls }: Queues): Promise<number> {
  const sqs = new SQSClient(clientConfig(endpoint));
  const counts = await Promise.all(Object.values(urls).map((url) => messagesIn({ sqs }, url)));
  sqs.destroy();
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns an organization's caller of the API, with the steps that several tests of webhooks share. */
function webhookCallerOf(service: Service, organization: Organization, token: string) {
  const caller = createCaller(service, organization, token);
  const webhookCaller = {
    ...caller,
    register: (body: unknown = newWebhook, more: Request = {}) => caller.registerWebhook({ body, ...more }),
    list: (request?: Request) => caller.listWebhooks(request),
    get: (id: string) => caller.getWebhook({ params: { id } }),
    getHours: (id: string) => caller.getWebhook({ params: { id }, query: 'include=hours' }),
    edit: (id: string, body: unknown, more: Request = {}) => caller.updateWebhook({ params: { id }, body, ...more }),
    delete: (id: string) => caller.deleteWebhook({ params: { id } }),
    deliveries: (id: string, query = '') => caller.listDeliveries({ params: { id }, query }),
    /** Rotates the secret. */
    rotate: (id: string, body: unknown = { secret: 'the next secret' }, more: Request = {}) =>
      caller.rotateWebhookSecret({ params: { id }, body, ...more }),
    /** Reads a delivery. */
    delivery: (id: string, deliveryId: string) => caller.getDelivery({ params: { id, deliveryId } }),
    /** Requests a redelivery. */
    redeliver: (id: string, deliveryId: string, more: Request = {}) =>
      caller.redeliverDelivery({ params: { id, deliveryId }, ...more }),
    /** Requests a recovery. */
    recover: (id: string, body: unknown, more: Request = {}) =>
      caller.recoverWebhook({ params: { id }, body, ...more }),
    /** Reads a recovery. */
    recovery: (id: string, recoveryId: string) => caller.getRecovery({ params: { id, recoveryId } }),
    /** Lists recoveries. */
    recoveries: (id: string, query = '') => caller.listRecoveries({ params: { id }, query }),
    /** Cancels a recovery. */
    cancel: (id: string, recoveryId: string) => caller.cancelRecovery({ params: { id, recoveryId } }),
    /** Sends a test event. */
    test: (id: string, body: unknown = { event: 'task.created' }, more: Request = {}) =>
      caller.testWebhook({ params: { id }, body, ...more }),

    /** Registers a webhook and returns its id. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await webhookCaller.register({ ...newWebhook, ...fields });
      expect(answer.status).toBe(201);
      return dataOf<Webhook>(answer).id;
    },

    /** Makes a delivery attempt with an outcome and returns the delivery's id. */
    attempt: async (webhookId: string, outcome: Partial<Outcome> = {}): Promise<string> => {
      const { ulid, clock } = processContext();
      // Due a second ago: a redelivery is never requested in the millisecond of the first attempt, and their times are in their ids.
      const [eventId, deliveryId] = [`ev_${ulid()}`, `dlv_${ulidFrom(clock() - 1000, randomBytes(10))}`];
      const event = { organization, id: eventId, event: 'task.created', item: 'tk_1', version: 1, data: '{}' } as const;
      await appendEvent(processContext(), event);
      const message = {
        organization,
        webhookId,
        deliveryId,
        eventId,
        attempt: 1,
        dueAt: timestamp(timeOf(ulidOf(deliveryId))),
      };
      await deliverWebhook({ ...processContext(), sender: notingSender(outcome).send }, message);
      return deliveryId;
    },
  };
  return webhookCaller;
}
