import { DeleteMessageBatchCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { handler } from '../../../functions/pipeline/deliver-webhook.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import type { QueueName } from '../../../lib/deployment/queues.ts';
import { queueEvent } from '../../queue-event.ts';
import type { Pipeline } from './pipeline.ts';

/** A message as a turn met it. */
export type Met = { queue: QueueName; body: string };

/**
 * Lambda's part for the queues of deliveries, a turn at a time: gives what each queue has now to the handler, and
 * deletes what that is done with. What it is not done with stays hidden for the queue's time.
 *
 * @returns what was received
 */
export async function takeTurn(pipeline: Pipeline): Promise<Met[]> {
  const shards = consumers.deliverWebhook.sources.map(async ({ queue }) => {
    const bodies = await receiveFrom(pipeline, queue, deliver);
    return bodies.map((body) => ({ queue, body }));
  });
  return (await Promise.all(shards)).flat();
}

/** Makes the attempts of a batch: which messages are not done with. */
async function deliver(bodies: readonly string[]): Promise<string[]> {
  const { batchItemFailures } = await handler(queueEvent(bodies), contextOf('deliverWebhook', 30));
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/**
 * Gives what a queue has now to a handler, and deletes what that is done with.
 *
 * @param handle answers which messages of a batch it is not done with
 * @returns what was received
 */
export async function receiveFrom(
  { sqs, urls }: Pipeline,
  queue: QueueName,
  handle: (bodies: readonly string[]) => Promise<string[]>,
): Promise<string[]> {
  const met: string[] = [];
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
    met.push(...bodies);
  }
  return met;
}

const counts = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** How many messages a queue has, whether they can be received, are delayed or are hidden. */
export async function messagesIn({ sqs }: Pipeline, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...counts] }));
  return counts.reduce((total, count) => total + Number(Attributes[count]), 0);
}
