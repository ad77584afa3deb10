import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import type { Table } from '../../lib/table/client.ts';

/** Handles a request; `send` sends it to the real engine. */
type Intercept = (send: () => Promise<unknown>, command: { input: object }) => Promise<unknown>;

/** Returns a table like another, whose requests a test intercepts. */
export function interceptTable(table: Table, intercept: Intercept): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  mockClient(client).send.callsFake(
    (command) => intercept(() => table.client.send(command as never), command) as Promise<never>,
  );
  return { ...table, client };
}
