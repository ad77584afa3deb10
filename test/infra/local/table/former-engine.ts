import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';
import { clientConfig } from '../../../../lib/aws/client-config.ts';
import { freePort } from '../../../servers/free-port.ts';
import { isAnswering } from '../../../servers/is-answering.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

/**
 * The program of the engine that the local service had before its own table. It is no dependency: `npm run engine`
 * installs it, and the tests that compare with it are skipped without it.
 */
const program = join('.engine', 'node_modules', '@dynoxide', `${process.platform}-${process.arch}`, 'dynoxide');

/** Whether the program is installed. */
export const hasFormerEngine = existsSync(program);

/** Starts the engine on a new database. `stop` ends it. */
export async function startFormerEngine(): Promise<{ endpoint: string; stop: () => Promise<void> }> {
  const port = await freePort();
  const database = join(createTemporaryFolder(), 'table.db');
  const engine = spawn(program, ['serve', '--port', String(port), '--db-path', database], { stdio: 'ignore' });
  const ended = once(engine, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  while (!(await isAnswering(endpoint))) await pause(50);
  const stop = async () => {
    engine.kill();
    await ended;
  };
  return { endpoint, stop };
}

/** Returns all records in the stream of an engine's table. */
export async function streamedRecords({ endpoint, tableName }: { endpoint: string; tableName: string }) {
  const client = new DynamoDBStreamsClient(clientConfig(endpoint));
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }));
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
