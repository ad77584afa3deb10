import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { clientConfig } from '../../../lib/aws/client-config.ts';
import { processContext } from '../../../lib/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { NewWebhook, Webhook } from '../../../lib/contract/webhooks.ts';
import { appendEvent } from '../../../lib/table/deliveries/event-log.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import type { Outcome } from '../../../lib/webhooks/sender/sender.ts';
import { dataOf, type Request } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { newCaller, type Service } from '../../service.ts';
import type { Queues } from '../../sqs-emulator.ts';
import { notingSender } from '../../webhooks/test-webhooks.ts';
import { openServiceWithQueues } from '../service-with-queues.ts';

/** An organization's caller of the API, with the steps that several tests of webhooks share. */
export type WebhookCaller = ReturnType<typeof webhookCallerOf>;

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

const waiting = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesDelayed',
  'ApproximateNumberOfMessagesNotVisible',
] as const;

async function queuedIn({ endpoint, urls }: Queues): Promise<number> {
  const sqs = new SQSClient(clientConfig(endpoint));
  const counts = await Promise.all(
    Object.values(urls).map(async (QueueUrl) => {
      const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...waiting] }));
      return waiting.map((count) => Number(Attributes?.[count]));
    }),
  );
  sqs.destroy();
  return counts.flat().reduce((sum, count) => sum + count, 0);
}

function webhookCallerOf(service: Service, organization: Organization, token: string) {
  const caller = createCaller(service, organization, token);
  const webhookCaller = {
    ...caller,
    register: (body: unknown = newWebhook, more: Request = {}) => caller.registerWebhook({ body, ...more }),
    list: () => caller.listWebhooks(),
    get: (id: string) => caller.getWebhook({ params: { id } }),
    delete: (id: string) => caller.deleteWebhook({ params: { id } }),
    deliveries: (id: string, query = '') => caller.listDeliveries({ params: { id }, query }),
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
      const [eventId, deliveryId] = [`ev_${ulid()}`, `dlv_${ulid()}`];
      const event = { organization, id: eventId, event: 'task.created', item: 'tk_1', version: 1, data: '{}' } as const;
      await appendEvent(processContext(), event);
      const message = { organization, webhookId, deliveryId, eventId, attempt: 1, dueAt: timestamp(clock()) };
      await deliverWebhook({ ...processContext(), sender: notingSender(outcome).send }, message);
      return deliveryId;
    },
  };
  return webhookCaller;
}
