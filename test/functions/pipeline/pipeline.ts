import { join } from 'node:path';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { afterAll } from 'vitest';
import { clientConfig } from '../../../lib/aws/client-config.ts';
import { processContext } from '../../../lib/context.ts';
import type { EventName } from '../../../lib/contract/events.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import type { QueueName } from '../../../lib/deployment/queues.ts';
import { type LoggedEvent, readEvents } from '../../../lib/table/deliveries/event-log.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { newCaller, openService, type Service } from '../../service.ts';
import { type Queues, startQueues } from '../../sqs-emulator.ts';
import { createTemporaryFolder } from '../../temporary-files.ts';

/** The table and the queues that the handlers of this process use, and an organization. */
export type Pipeline = {
  service: Service;
  organization: Organization;
  /** Registers a webhook of the organization. */
  register: (url?: string, events?: EventName[], secret?: string) => Promise<Webhook>;
  /** Receives all visible messages of a queue, by default the queue of first attempts, and returns their bodies. */
  receive: (queue?: QueueName) => Promise<string[]>;
  /** Receives the messages of first attempts and returns the event of each from the event log. */
  publishedEvents: () => Promise<LoggedEvent[]>;
  /** A client of the queues, and their URLs. */
  sqs: SQSClient;
  urls: Queues['urls'];
};

/**
 * Points the handlers of this process at a table, a key and queues of the test file's own, with receivers on the
 * loopback allowed. A test file calls it once, before its first call of a handler.
 */
export async function openPipeline(): Promise<Pipeline> {
  const [service, queues] = await Promise.all([openService(), startQueues()]);
  const sqs = new SQSClient(clientConfig(queues.endpoint));
  afterAll(async () => {
    sqs.destroy();
    await queues.stop();
  });
  Object.assign(process.env, {
    [environment.tableName]: service.tableName,
    [environment.dynamodbEndpoint]: service.endpoint,
    [environment.secretsKeyFile]: join(createTemporaryFolder(), 'secrets.key'),
    [environment.sqsEndpoint]: queues.endpoint,
    ...queues.variables,
    [environment.allowedReceivers]: '127.0.0.1:*',
  });
  const { organization } = await newCaller(processContext());
  const receive = async (queue: QueueName = 'deliveries') => {
    const bodies: string[] = [];
    for (;;) {
      const command = new ReceiveMessageCommand({ QueueUrl: queues.urls[queue], MaxNumberOfMessages: 10 });
      const { Messages = [] } = await sqs.send(command);
      if (Messages.length === 0) return bodies;
      bodies.push(...Messages.map(({ Body = '' }) => Body));
    }
  };
  return {
    service,
    organization,
    sqs,
    urls: queues.urls,
    register: (url = 'https://example.com/hooks', events = ['task.created'], secret) =>
      registerWebhook(processContext(), organization, { url, events, secret }, undefined),
    receive,
    publishedEvents: async () => {
      const day = 24 * 60 * 60_000;
      const log = readEvents(service, organization, Date.now() - day, Date.now() + day);
      const events = new Map((await Array.fromAsync(log)).map((event) => [event.id, event]));
      return (await receive()).map((body) => {
        const event = events.get(messageOf(body).eventId ?? '');
        if (!event) throw new Error(`The log has no event for ${body}.`);
        return event;
      });
    },
  };
}

/** Parses the body of a delivery message. */
export const messageOf = (body: string) => v.parse(DeliveryMessage, JSON.parse(body));
