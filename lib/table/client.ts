import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The table that stores write to. `sleep` waits between tries; tests pass one that does not. */
export type Table = {
  name: string;
  client: DynamoDBDocumentClient;
  sleep: (milliseconds: number) => Promise<void>;
};

/**
 * Opens the table. `endpoint` points at a local engine, whose credentials are of no concern; without it the SDK
 * asks its environment, as in Lambda.
 */
export function openTable(name: string, endpoint?: string): Table {
  const local = endpoint
    ? { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
    : {};
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(local), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { name, client, sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)) };
}
