// A receiver of webhooks behind the URL of a Lambda function. It stores completed tasks and failed executions in a
// DynamoDB table. To build one file for Lambda:
//
//   npx esbuild docs/examples/lambda-receiver.ts --bundle --platform=node --format=esm --outfile=index.mjs '--external:@aws-sdk/*'
//
// For your own project, also copy lib/client/verify-webhook.ts.
import { DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda';
import { type Delivery, DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

// The table has the key `id`, a string, and the TTL attribute `expiresAt`.
const TableName = setting('TABLE_NAME');
// The secret that the webhook was registered with.
const secret = setting('WEBHOOK_SECRET');

const table = DynamoDBDocumentClient.from(new DynamoDBClient());

export async function handler(event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> {
  let delivery: Delivery;
  try {
    // The signature is over the bytes of the body, which Lambda passes as text or as base64. `verifyWebhook` checks it in
    // constant time, and that the delivery is at most 5 minutes old.
    const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
    delivery = await verifyWebhook({ body, headers: event.headers, secret });
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    console.error(`rejected: ${error.message}`);
    return { statusCode: 401 };
  }
  // Lambda stops the function after the response, so work before it. This work is one quick write; send longer work to a
  // queue here. If it fails, Lambda answers 500 and the delivery is retried.
  await work(delivery);
  return { statusCode: 204 };
}

async function work(delivery: Delivery): Promise<void> {
  // The transaction of the work also stores the id, for a day (in seconds). Retries end after two and a half hours.
  const seen = { id: delivery.deliveryId, expiresAt: Math.floor(Date.now() / 1000) + 24 * 60 * 60 };
  const remember = { Put: { TableName, Item: seen, ConditionExpression: 'attribute_not_exists(id)' } };
  try {
    await table.send(new TransactWriteCommand({ TransactItems: [remember, ...writesFor(delivery)] }));
  } catch (error) {
    const isDuplicate =
      error instanceof TransactionCanceledException &&
      error.CancellationReasons?.[0]?.Code === 'ConditionalCheckFailed';
    if (!isDuplicate) throw error;
  }
}

function writesFor({ event, data }: Delivery) {
  switch (event) {
    case 'task.completed':
      return [put({ id: data.task.id, title: data.task.title, completedAt: data.occurredAt })];
    case 'agent.failed':
      return [put({ id: data.execution.id, agent: data.execution.agentName, error: data.execution.error })];
    default:
      // Ignore unknown events: later versions may add some. Register only for the events that you process.
      return [];
  }
}

function put(Item: { id: string; [attribute: string]: unknown }) {
  return { Put: { TableName, Item } };
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name} in the environment of the function.`);
  return value;
}
