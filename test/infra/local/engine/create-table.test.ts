import { randomUUID } from 'node:crypto';
import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, inject, it } from 'vitest';
import { createTable } from '../../../../infra/local/engine/create-table.ts';
import { Problem } from '../../../../infra/local/problem.ts';
import { clientConfig } from '../../../../lib/aws/client-config.ts';

const endpoint = inject('dynamodbEndpoint');

it('creates the table once for concurrent calls, as the stack does, and does not change an existing one', async () => {
  const name = `table-${randomUUID()}`;
  await Promise.all([createTable(endpoint, name), createTable(endpoint, name), createTable(endpoint, name)]);
  await createTable(endpoint, name);
  const client = new DynamoDBClient(clientConfig(endpoint));
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: name }));
  client.destroy();
  const keyOf = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  const due = { IndexName: 'due', KeySchema: keyOf('due', 'dueAt'), Projection: { ProjectionType: 'KEYS_ONLY' } };
  expect(Table).toMatchObject({ TableStatus: 'ACTIVE', KeySchema: keyOf('pk', 'sk'), GlobalSecondaryIndexes: [due] });
  expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' });
});

it('reports in one sentence that no server answers', async () => {
  const sentence = 'Nothing answers at DYNAMODB_ENDPOINT http://127.0.0.1:1; start DynamoDB Local there, or unset it.';
  await expect(createTable('http://127.0.0.1:1', 'any')).rejects.toThrow(new Problem(sentence));
});
