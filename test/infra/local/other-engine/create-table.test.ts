import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it, onTestFinished } from 'vitest';
import { createTable } from '../../../../infra/local/other-engine/create-table.ts';
import { Problem } from '../../../../infra/problem.ts';

function mockEngine() {
  const engine = mockClient(DynamoDBClient);
  onTestFinished(() => engine.restore());
  return engine
    .resolves({})
    .on(DescribeTableCommand)
    .resolves({ Table: { TableStatus: 'ACTIVE' } });
}

it('creates the table as the stack does', async () => {
  const engine = mockEngine();
  await createTable('http://127.0.0.1:1', 'crewboard');
  const keyOf = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  const due = { IndexName: 'due', KeySchema: keyOf('due', 'dueAt'), Projection: { ProjectionType: 'KEYS_ONLY' } };
  expect(engine.commandCalls(CreateTableCommand)[0]?.args[0].input).toMatchObject({
    ...{ TableName: 'crewboard', KeySchema: keyOf('pk', 'sk'), GlobalSecondaryIndexes: [due] },
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  expect(engine.commandCalls(UpdateTimeToLiveCommand)[0]?.args[0].input).toEqual({
    TableName: 'crewboard',
    TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
  });
});

it('does not change a table that exists', async () => {
  const engine = mockEngine();
  engine.on(CreateTableCommand).rejects(new ResourceInUseException({ message: 'It exists.', $metadata: {} }));
  await createTable('http://127.0.0.1:1', 'crewboard');
  expect(engine.commandCalls(UpdateTimeToLiveCommand)).toEqual([]);
});

it('reports in one sentence that no server answers', async () => {
  const sentence = 'Nothing answers at DYNAMODB_ENDPOINT http://127.0.0.1:1; start DynamoDB Local there, or unset it.';
  await expect(createTable('http://127.0.0.1:1', 'any')).rejects.toThrow(new Problem(sentence));
});
