import { DeleteMessageBatchCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { handler } from '../../../functions/pipeline/deliver-webhook.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import type { QueueName } from '../../../lib/deployment/queues.ts';
import { queueEvent } from '../../queue-event.ts';
import type { Pipeline } from './pipeline.ts';

/** A message and the queue that it was received from. */
export type ReceivedMessage = { queue: QueueName; body: string };

/**
 * Does what Lambda does for the delivery queues, once: passes the visible messages of each queue to the handler and
 * deletes those that succeed. Messages that fail stay hidden for the visibility timeout of the queue.
 *
 * @returns the received messages
 */
export async function takeTurn(pipeline: Pipeline): Promise<ReceivedMessage[]> {
  const shards = consumers.deliverWebhook.sources.map(async ({ queue }) => {
    const bodies = await receiveFrom(pipeline, queue, deliver);
    return bodies.map((body) => ({ queue, body }));
  });
  return (await Promise.all(shards)).flat();
}

/** Makes the attempts of a batch and returns the ids of the messages that failed. */
async function deliver(bodies: readonly string[]): Promise<string[]> {
  const { batchItemFailures } = await handler(queueEvent(bodies), contextOf('deliverWebhook', 30));
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/**
 * Passes the visible messages of a queue to a handler and deletes those that succeed.
 *
 * @param handle returns the ids of the messages of a batch that failed
 * @returns the received messages
 */
export async function receiveFrom(
  { sqs, urls }: Pipeline,
  queue: QueueName,
  handle: (bodies: readonly string[]) => Promise<string[]>,
): Promise<string[]> {
  const received: string[] = [];
  const QueueUrl = urls[queue];
  for (let more = true; more; ) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    more = Messages.length === 10;
    if (Messages.length === 0) continue;
    const bodies = Messages.map(({ Body = '' }) => Body);
    const failed = await handle(bodies);
    const Entries = Messages.flatMap(({ ReceiptHandle }, at) =>
      failed.includes(`message-${at}`) ? [] : [{ Id: String(at), ReceiptHandle }],
    );
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    received.push(...bodies);
  }
  return received;
}

const counts = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** Counts the messages of a queue: visible, delayed and hidden. */
export async function messagesIn({ sqs }: Pipeline, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...counts] }));
  return counts.reduce((total, count) => total + Number(Attributes[count]), 0);
}
