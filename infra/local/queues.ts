import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { clientConfig, maxReceiveCount, type QueueName, queues } from '../../lib/contract/deployment.ts';
import { deadLettersOf } from './running.ts';

/** The running queues: where SQS answers, and each queue's URL, also by the variable that functions read it from. */
export type Queues = {
  endpoint: string;
  urls: Record<QueueName, string>;
  variables: Record<string, string>;
  stop: () => Promise<void>;
};

/**
 * Starts SQS in this process, in memory: the table is the truth, and the sweep at start wakes what was waiting
 * (design §7). By the app itself: `startFauxqs` listens on every interface, whatever it is told.
 */
export async function startQueues(): Promise<Queues> {
  const server = buildApp({ logger: false });
  const endpoint = await server.listen({ port: 0, host: '127.0.0.1' });
  const client = new SQSClient(clientConfig(endpoint));
  const names = Object.keys(queues) as QueueName[];
  const urls = await Promise.all(names.map(async (name) => [name, await createQueue(client, name)] as const));
  client.destroy();
  return {
    endpoint,
    urls: Object.fromEntries(urls) as Record<QueueName, string>,
    variables: Object.fromEntries(urls.map(([name, url]) => [queues[name].urlVariable, url])),
    stop: () => server.close(),
  };
}

/** Creates a queue of the contract, and the dead-letter queue beside it, and answers its URL. */
async function createQueue(client: SQSClient, name: QueueName): Promise<string> {
  const { visibilitySeconds, ...rest } = queues[name];
  const Attributes: Record<string, string> = { VisibilityTimeout: String(visibilitySeconds) };
  if (!('deadLetters' in rest)) {
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: deadLettersOf(name) }));
    const request = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
    const deadLetterTargetArn = (await client.send(request)).Attributes?.QueueArn;
    Attributes.RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  }
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
  return QueueUrl as string;
}
