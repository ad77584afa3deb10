import { DeleteMessageBatchCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { consumers } from '../../../lib/names/consumers.ts';
import type { QueueName } from '../../../lib/names/queues.ts';
import { consume } from './call-functions.ts';
import type { TestPipeline } from './test-pipeline.ts';

/** The functions of queues. */
export const queueConsumers = ['deliverWebhook', 'runExecution'] as const;
type QueueConsumer = (typeof queueConsumers)[number];

/** A message and the queue that it was received from. */
export type ReceivedMessage = { queue: QueueName; body: string };

/**
 * Does what Lambda does for the queues of a function, once: passes the visible messages to the function and deletes
 * messages that succeed. Messages that fail stay hidden for the visibility timeout of the queue.
 *
 * @returns the received messages
 */
export async function takeTurn(
  pipeline: TestPipeline,
  name: QueueConsumer = 'deliverWebhook',
): Promise<ReceivedMessage[]> {
  const turns = consumers[name].sources.map(({ queue }) => takeMessages(pipeline, name, queue));
  return (await Promise.all(turns)).flat();
}

async function takeMessages({ sqs, urls }: TestPipeline, name: QueueConsumer, queue: QueueName) {
  const received: ReceivedMessage[] = [];
  const QueueUrl = urls[queue];
  for (;;) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages.length === 0) return received;
    const bodies = Messages.map(({ Body = '' }) => Body);
    const failed = await consume(name, ...bodies);
    const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: `message-${at}`, ReceiptHandle }));
    const handled = Entries.filter(({ Id }) => !failed.includes(Id));
    if (handled.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: handled }));
    received.push(...bodies.map((body) => ({ queue, body })));
  }
}

const counts = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** Counts the messages of a queue: visible, delayed and hidden. */
export async function messagesIn({ sqs }: Pick<TestPipeline, 'sqs'>, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...counts] }));
  return counts.reduce((total, count) => total + Number(Attributes[count]), 0);
}
