import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';
import { clientConfig } from '../lib/aws/client-config.ts';
import type { Service } from './service.ts';

/** Returns the records of a kind in the table's stream. */
export async function streamed(
  service: Pick<Service, 'endpoint' | 'tableName'>,
  kind: string,
): Promise<DynamoDBRecord[]> {
  return (await streamedRecords(service)).filter(({ dynamodb }) => dynamodb?.NewImage?.kind?.S === kind);
}

/** Returns all records in the table's stream. */
export async function streamedRecords(service: Pick<Service, 'endpoint' | 'tableName'>): Promise<DynamoDBRecord[]> {
  const client = new DynamoDBStreamsClient(clientConfig(service.endpoint));
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: service.tableName }));
  const StreamArn = Streams[0]?.StreamArn as string;
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  );
  const records: _Record[] = [];
  for (let next = ShardIterator; next; ) {
    const { Records = [], NextShardIterator } = await client.send(
      new GetRecordsCommand({ ShardIterator: next, Limit: 1000 }),
    );
    records.push(...Records);
    next = Records.length > 0 ? NextShardIterator : undefined;
  }
  client.destroy();
  return records as DynamoDBRecord[];
}
