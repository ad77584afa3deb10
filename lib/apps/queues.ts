import { SQSClient } from '@aws-sdk/client-sqs';
import { callLimitConfig, callLimitsOf } from '../aws/call-limits.ts';
import { clientConfig } from '../aws/client-config.ts';
import type { Context } from '../context.ts';
import { environment } from '../deployment/environment.ts';
import { type QueueName, queues } from '../deployment/queues.ts';
import { openQueue, type Queue } from '../sqs/queue.ts';
import { appOf } from './base.ts';

const connected = appOf(({ variables }) => ({ sqs: sqsClient(variables[environment.sqsEndpoint]) }));

/** The client of SQS that functions send with; `endpoint` points at a local engine. */
export function sqsClient(endpoint: string | undefined, limits = callLimitsOf('sqs', endpoint)): SQSClient {
  return new SQSClient({ ...clientConfig(endpoint), ...callLimitConfig(limits), cacheMiddleware: true });
}

/** A queue to send to. Only some functions are given queues, each those that it sends to; the others never send. */
export function queueOf<Message>(base: Context, name: QueueName): Queue<Message> {
  return (
    base.queue?.<Message>(name) ??
    openQueue<Message>(connected(base).sqs, base.variables[queues[name].urlVariable] ?? '')
  );
}
