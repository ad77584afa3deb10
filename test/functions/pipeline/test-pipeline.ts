import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { afterAll } from 'vitest';
import { clientConfig } from '../../../lib/aws/client-config.ts';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import { executeAgent } from '../../../lib/executions/executions.ts';
import { environment } from '../../../lib/names/environment.ts';
import { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { QueueName } from '../../../lib/names/queues.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { newCaller } from '../../service.ts';
import { openServiceWithQueues } from '../service-with-queues.ts';

/** The table and the queues that the functions of this process use, and an organization. */
export type TestPipeline = Awaited<ReturnType<typeof createTestPipeline>>;

/**
 * Points the functions of this process at a table, a key and queues of the test file's own, with receivers on the
 * loopback allowed. A test file calls it once, before its first call of a function.
 */
export async function createTestPipeline() {
  const { service, queues } = await openServiceWithQueues({ [environment.allowedReceivers]: '127.0.0.1:*' });
  const sqs = new SQSClient(clientConfig(queues.endpoint));
  afterAll(() => sqs.destroy());
  const { organization, token } = await newCaller(processContext());
  return {
    service,
    organization,
    token,
    sqs,
    urls: queues.urls,

    /** Registers a webhook of the organization. */
    register: (url = 'https://example.com/hooks', events: EventName[] = ['task.created'], secret?: string) =>
      registerWebhook(processContext(), organization, { url, events, secret }, undefined),

    /** Publishes the event of a new task. */
    async publishTask(title = 'A task'): Promise<void> {
      const item = `tk_${processContext().ulid()}`;
      const data = { task: { id: item, title, status: 'backlog' as const }, occurredAt: timestamp(Date.now()) };
      const change = { organization, item, version: 1, events: [{ event: 'task.created' as const, data }] };
      await publishEvents(processContext(), change);
    },

    /** Starts an execution and returns its id. */
    async startExecution(): Promise<string> {
      const input = { input: 'Do it.' };
      return (await executeAgent(processContext(), organization, 'qa-reviewer', input, undefined)).executionId;
    },

    /** Receives all visible messages of a queue, by default the queue of first attempts, and returns their bodies. */
    async receive(queue: QueueName = 'deliveries'): Promise<string[]> {
      const bodies: string[] = [];
      for (;;) {
        const command = new ReceiveMessageCommand({ QueueUrl: queues.urls[queue], MaxNumberOfMessages: 10 });
        const { Messages = [] } = await sqs.send(command);
        if (Messages.length === 0) return bodies;
        bodies.push(...Messages.map(({ Body = '' }) => Body));
      }
    },
  };
}

/** Parses the body of a delivery message. */
export const messageOf = (body: string) => v.parse(DeliveryMessage, JSON.parse(body));
