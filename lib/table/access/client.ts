import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { callLimitConfig, callLimitsOf } from '../../aws/call-limits.ts';
import { clientConfig } from '../../aws/client-config.ts';
import { noteLostResponses } from './lost-responses.ts';
import { createShards, type Shards } from './shards.ts';

/** A connection to the DynamoDB table. */
export type Table = {
  name: string;
  client: DynamoDBDocumentClient;
  /** Waits between tries. Tests pass a function that does not wait. */
  sleep: (milliseconds: number) => Promise<void>;
  /** The shards that counters are written in after conflicts. */
  shards: Shards;
  /** Runs before each change; absent if there is nothing to do. */
  beforeWrite?: () => Promise<void>;
};

/** The part of a context that functions of lib/table need. */
export type TableContext = { table: Table };

/**
 * Opens a connection to the table.
 *
 * @param endpoint of a local engine; AWS by default
 */
export function openTable(name: string, endpoint?: string, limits = callLimitsOf('dynamodb', endpoint)): Table {
  const dynamodb = new DynamoDBClient({ ...clientConfig(endpoint), ...callLimitConfig(limits) });
  noteLostResponses(dynamodb);
  const client = DynamoDBDocumentClient.from(dynamodb, { marshallOptions: { removeUndefinedValues: true } });
  const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
  return { name, client, sleep, shards: createShards() };
}
