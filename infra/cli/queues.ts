import { SQSClient } from '@aws-sdk/client-sqs';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { type QueueName, queues } from '../../lib/deployment/queues.ts';
import type { Running } from '../local/running.ts';
import { findLocal } from './deployments.ts';
import { queueUrlsOf, type Resource, resourcesOf } from './stack/stack.ts';

/** The queues of a deployment, and the client that reaches them. */
export type Queues = { sqs: SQSClient; urls: Readonly<Record<QueueName, string>> };

/**
 * The queues of a stack in AWS, or of the service that runs on this machine where none is named.
 *
 * @throws `Problem` where there is none
 */
export async function openQueues(stack: string | undefined): Promise<Queues> {
  return stack === undefined ? queuesOfThisMachine(await findLocal()) : queuesOfStack(await resourcesOf(stack));
}

/** The queues of a stack by what it consists of. */
export function queuesOfStack(resources: readonly Resource[]): Queues {
  // Where AWS answers is for this shell to say, as for every other client, not for the URL of a queue.
  return { sqs: new SQSClient({ useQueueUrlAsEndpoint: false }), urls: queueUrlsOf(resources) };
}

/** The queues of a service that runs on this machine. */
export function queuesOfThisMachine({ environment: variables }: Running): Queues {
  const urls = Object.entries(queues).map(([name, { urlVariable }]) => [name, variables[urlVariable]]);
  return {
    sqs: new SQSClient(clientConfig(variables[environment.sqsEndpoint])),
    urls: Object.fromEntries(urls) as Queues['urls'],
  };
}
