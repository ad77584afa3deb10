// A receiver of webhooks behind the URL of a Lambda function. It keeps in a DynamoDB table which tasks are done and which
// executions have failed. One file for Lambda:
//
//   npx esbuild docs/examples/lambda-receiver.ts --bundle --platform=node --format=esm --outfile=index.mjs '--external:@aws-sdk/*'
//
// For a project of your own copy verify-webhook.ts and operations.ts of lib/client too.
import { DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda';
import type { Deliveries } from '../../lib/client/operations.ts';
import { DeliveryRefused, verifyWebhook } from '../../lib/client/verify-webhook.ts';

type Delivery = Deliveries[keyof Deliveries];

// The table's key is `id`, a string; let its items expire by `expiresAt`.
const TableName = setting('TABLE_NAME');
// The one that the webhook is registered with.
const secret = setting('WEBHOOK_SECRET');

const table = DynamoDBDocumentClient.from(new DynamoDBClient());

export async function handler(event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> {
  let delivery: Delivery;
  try {
    // The bytes of the body, which Lambda hands over as text or as base64: the signature is over them. Checks the
    // signature in constant time, and the age: a delivery of more than 5 minutes ago is a replay.
    const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
    delivery = verifyWebhook({ body, headers: event.headers, secret }) as Delivery;
  } catch (error) {
    if (!(error instanceof DeliveryRefused)) throw error;
    console.error(`refused: ${error.message}`);
    return { statusCode: 401 };
  }
  // Lambda stops when it has answered, so nothing can be done afterwards. This work is one quick write; what takes longer
  // goes on a queue here. Where either fails, the 500 that Lambda answers brings the delivery again.
  await work(delivery);
  return { statusCode: 204 };
}

async function work(delivery: Delivery): Promise<void> {
  // The id is remembered in the transaction of the work: neither is there without the other. It is kept for a day, in
  // seconds; retries go on for two and a half hours.
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
      // Register for the events that you work on, and leave alone what else may come one day.
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
