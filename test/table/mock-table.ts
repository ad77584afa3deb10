import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandOutput,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import 'aws-sdk-client-mock-vitest/extend';
import type { Table } from '../../lib/table/client.ts';
import { createShards } from '../../lib/table/shards.ts';

/** A mocked client of DynamoDB. */
export type DynamoDBMock = ReturnType<typeof mockTable>['dynamodb'];

/**
 * Creates a table on a mocked client, for responses that no local engine gives. Every command succeeds with an empty
 * output until a test says otherwise. The table does not wait between tries; `pauses` are the times that it would wait.
 */
export function mockTable() {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const pauses: number[] = [];
  const table: Table = {
    name: 'mocked',
    client,
    sleep: async (milliseconds) => {
      pauses.push(milliseconds);
    },
    shards: createShards(),
  };
  return { table, dynamodb: mockClient(client).resolves({}), pauses };
}

/** Makes the first requests fail, one with each error; later ones succeed. */
export function failFirst(dynamodb: DynamoDBMock, ...errors: Error[]): void {
  let responses = dynamodb.onAnyCommand();
  for (const error of errors) responses = responses.rejectsOnce(error);
  responses.resolves({});
}

/** Makes queries return these pages, one after the other. */
export function returnPages(dynamodb: DynamoDBMock, ...pages: Partial<QueryCommandOutput>[]): void {
  let responses = dynamodb.on(QueryCommand);
  for (const page of pages) responses = responses.resolvesOnce(page);
}

/** The inputs of the queries that were sent. */
export const queriesOf = (dynamodb: DynamoDBMock) =>
  dynamodb.commandCalls(QueryCommand).map(({ args: [{ input }] }) => input);

/** The inputs of the transactions that were sent. */
export const transactionsOf = (dynamodb: DynamoDBMock) =>
  dynamodb.commandCalls(TransactWriteCommand).map(({ args: [{ input }] }) => input);

/** Their client request tokens. */
export const tokensOf = (dynamodb: DynamoDBMock) =>
  transactionsOf(dynamodb).map(({ ClientRequestToken }) => ClientRequestToken);
