import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { maxReceiveCount, type QueueName, queues, workQueues } from '../../lib/names/queues.ts';

/** The emulated queues: the endpoint of SQS, and the URL of each queue by its name and by its environment variable. */
export type Queues = {
  endpoint: string;
  urls: Record<QueueName, string>;
  variables: Record<string, string>;
  stop: () => Promise<void>;
};

/**
 * Starts an emulator of SQS in this process, for tests of requests of the SDK. It does not use `startFauxqs`, which always
 * listens on every interface.
 */
export async function startQueues(): Promise<Queues> {
  const server = buildApp({ logger: false });
  const endpoint = await server.listen({ port: 0, host: '127.0.0.1' });
  const client = new SQSClient(clientConfig(endpoint));
  const urls = await createQueues(client);
  client.destroy();
  return {
    endpoint,
    urls,
    variables: Object.fromEntries(
      Object.entries(queues).map(([name, row]) => [row.urlVariable, urls[name as QueueName]]),
    ),
    stop: () => server.close(),
  };
}

/** Creates the queues of the contract, with `deadLetters` as the dead-letter queue of the others, and returns their URLs. */
async function createQueues(client: SQSClient): Promise<Record<QueueName, string>> {
  const deadLetters = await createQueue(client, 'deadLetters');
  const request = new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ['QueueArn'] });
  const deadLetterTargetArn = (await client.send(request)).Attributes?.QueueArn;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  const others = workQueues.map(async (name) => [name, await createQueue(client, name, { RedrivePolicy })] as const);
  return { ...Object.fromEntries(await Promise.all(others)), deadLetters } as Record<QueueName, string>;
}

async function createQueue(client: SQSClient, QueueName: QueueName, rest?: Record<string, string>): Promise<string> {
  const Attributes = { VisibilityTimeout: String(queues[QueueName].visibilitySeconds), ...rest };
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl as string;
}
