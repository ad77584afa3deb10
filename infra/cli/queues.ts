import { SQSClient } from '@aws-sdk/client-sqs';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { type QueueName, queues } from '../../lib/deployment/queues.ts';
import type { Running } from '../local/running.ts';
import { findLocal } from './deployments.ts';
import { queueUrlsOf, type Resource, resourcesOf } from './stack/stack.ts';

/** The queues of a deployment: their URLs and a client for them. */
export type Queues = { sqs: SQSClient; urls: Readonly<Record<QueueName, string>> };

/**
 * Finds the queues of a stack in AWS, or of the service on this machine if no stack is named.
 *
 * @throws `Problem` if there is no such deployment
 */
export async function findQueues(stack: string | undefined): Promise<Queues> {
  return stack === undefined ? localQueues(await findLocal()) : stackQueues(await resourcesOf(stack));
}

/** Returns the queues among the resources of a stack. */
export function stackQueues(resources: readonly Resource[]): Queues {
  // The endpoint of AWS is configured in the environment, as for all other clients, and not taken from the queue's URL.
  return { sqs: new SQSClient({ useQueueUrlAsEndpoint: false }), urls: queueUrlsOf(resources) };
}

/** Returns the queues of a service that runs on this machine. */
export function localQueues({ environment: variables }: Running): Queues {
  const urls = Object.entries(queues).map(([name, { urlVariable }]) => [name, variables[urlVariable]]);
  return {
    sqs: new SQSClient(clientConfig(variables[environment.sqsEndpoint])),
    urls: Object.fromEntries(urls) as Queues['urls'],
  };
}
