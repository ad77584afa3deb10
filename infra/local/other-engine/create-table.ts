import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { clientConfig } from '../../../lib/aws/client-config.ts';
import { tableSchema } from '../../../lib/names/table-schema.ts';
import { Problem } from '../../problem.ts';

/**
 * Creates the table with its stream and its index, as the stack does in AWS. Does nothing if the table exists.
 *
 * @throws `Problem` if no server answers at the endpoint
 */
export async function createTable(endpoint: string, name: string): Promise<void> {
  const client = new DynamoDBClient(clientConfig(endpoint));
  const { partitionKey, sortKey, expiry, dueIndex } = tableSchema;
  const keySchema = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  try {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          ...[partitionKey, sortKey, dueIndex.partitionKey, dueIndex.sortKey].map((AttributeName) => ({
            AttributeName,
            AttributeType: 'S' as const,
          })),
        ],
        KeySchema: keySchema(partitionKey, sortKey),
        GlobalSecondaryIndexes: [
          {
            IndexName: dueIndex.name,
            KeySchema: keySchema(dueIndex.partitionKey, dueIndex.sortKey),
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    );
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.1 }, { TableName: name });
    const TimeToLiveSpecification = { AttributeName: expiry, Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    if (
      error instanceof Error &&
      /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(`${error.message} ${'code' in error ? error.code : ''}`)
    )
      throw new Problem(`Nothing answers at DYNAMODB_ENDPOINT ${endpoint}; start DynamoDB Local there, or unset it.`);
    throw error;
  } finally {
    client.destroy();
  }
}
