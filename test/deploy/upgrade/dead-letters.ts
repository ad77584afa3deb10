import { LambdaClient, paginateListEventSourceMappings, UpdateEventSourceMappingCommand } from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { until } from '../../journeys/deployment.ts';
import { createTask } from '../../journeys/requests.ts';
import { type Deployed, resourceOf } from '../deployed.ts';

const lambda = new LambdaClient({});
const sqs = new SQSClient({});

/**
 * Creates an event whose message becomes a dead letter: it is received again and again, as if its function always failed. The
 * function gets no messages of this queue meanwhile.
 */
export async function makeDeadLetter(deployed: Deployed): Promise<void> {
  const QueueUrl = await resourceOf('AWS::SQS::Queue', 'Deliveries');
  const deadLetters = await resourceOf('AWS::SQS::Queue', 'DeadLetters');
  const mapping = await mappingOf(QueueUrl);
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID: mapping, Enabled: false }));
  try {
    await createTask(deployed, 'Of a dead letter');
    await until('the message is a dead letter', async () => {
      await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0 }));
      return (await sizeOf(deadLetters)) === 1;
    });
  } finally {
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID: mapping, Enabled: true }));
  }
}

async function sizeOf(QueueUrl: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages'] as const;
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
  );
  return Number(Attributes?.ApproximateNumberOfMessages);
}

/** Returns the id of the event source mapping of a queue. */
async function mappingOf(queueUrl: string): Promise<string> {
  const queue = queueUrl.split('/').at(-1) as string;
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client: lambda }, {}))
    for (const { UUID, EventSourceArn } of EventSourceMappings)
      if (UUID && EventSourceArn?.endsWith(`:${queue}`)) return UUID;
  throw new Error(`No function receives messages of ${queue}.`);
}
