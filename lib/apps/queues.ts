import { SQSClient } from '@aws-sdk/client-sqs';
import { callLimitConfig, callLimitsOf } from '../aws/call-limits.ts';
import { clientConfig } from '../aws/client-config.ts';
import type { Context } from '../context.ts';
import { environment } from '../deployment/environment.ts';
import { type QueueName, queues } from '../deployment/queues.ts';
import { openQueue, type Queue } from '../sqs/queue.ts';
import { appOf } from './base.ts';

const connected = appOf(({ variables }) => ({
  sqs: sqsClient(variables[environment.sqsEndpoint]),
  opened: new Map<QueueName, Queue<never>>(),
}));

/** The client of SQS that functions send with; `endpoint` points at a local engine. */
export function sqsClient(endpoint: string | undefined, limits = callLimitsOf('sqs', endpoint)): SQSClient {
  return new SQSClient({ ...clientConfig(endpoint), ...callLimitConfig(limits), cacheMiddleware: true });
}

/** A queue to send to. Only some functions are given queues, each those that it sends to; the others never send. */
export function queueOf<Message>(base: Context, name: QueueName): Queue<Message> {
  if (base.queue) return base.queue(name);
  const { sqs, opened } = connected(base);
  // One queue for all callers: messages that are sent at the same time share a request.
  const queue = opened.get(name) ?? openQueue<Message>(sqs, base.variables[queues[name].urlVariable] ?? '');
  opened.set(name, queue);
  return queue as Queue<Message>;
}
