import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { clientConfig, type QueueName, queues } from '../../lib/contract/deployment.ts';

/** The running queues: where SQS answers, and each queue's URL. */
export type Queues = { endpoint: string; urls: Record<QueueName, string>; stop: () => Promise<void> };

/**
 * Starts SQS in this process, in memory: the table is the truth, and the sweep at start wakes what was waiting
 * (design §7). By the app itself: `startFauxqs` listens on every interface, whatever it is told.
 */
export async function startQueues(): Promise<Queues> {
  const server = buildApp({ logger: false });
  const endpoint = await server.listen({ port: 0, host: '127.0.0.1' });
  const client = new SQSClient(clientConfig(endpoint));
  const names = Object.entries(queues) as [QueueName, (typeof queues)[QueueName]][];
  const urls = await Promise.all(
    names.map(async ([QueueName, { visibilitySeconds }]) => {
      const Attributes = { VisibilityTimeout: String(visibilitySeconds) };
      const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
      return [QueueName, QueueUrl as string] as const;
    }),
  );
  client.destroy();
  return { endpoint, urls: Object.fromEntries(urls) as Record<QueueName, string>, stop: () => server.close() };
}
