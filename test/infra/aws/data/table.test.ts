import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { absentPartition, requestBuckets, tokenPartitions } from '../../../../infra/aws/data/table.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { environment } from '../../../../lib/names/environment.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { stackOf, synthesized, writes } from '../synthesized.ts';

const { template, resources, statementsByRole, statementsOf } = synthesized();
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));

describe('the table', () => {
  it('keeps its logical id, because CloudFormation would otherwise create an empty table', () => {
    expect(table).toBe('GlobalTable89F068B2');
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
  });

  it('has the keys, the expiry, the stream and the keys-only index that the functions need, billed on demand', () => {
    const key = (hash: string, range: string) => [
      { AttributeName: hash, KeyType: 'HASH' },
      { AttributeName: range, KeyType: 'RANGE' },
    ];
    const Projection = { ProjectionType: 'KEYS_ONLY' };
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: key('pk', 'sk'),
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      GlobalSecondaryIndexes: [{ IndexName: 'due', KeySchema: key('due', 'dueAt'), Projection }],
    });
  });

  it('has the throughput of the settings, and none without them', () => {
    const warm = {
      warmThroughput: { readUnitsPerSecond: 30_000, writeUnitsPerSecond: 8_000 },
      maxWriteRequestUnits: 9_000,
    };
    const WriteOnDemandThroughputSettings = { MaxWriteRequestUnits: 9_000 };
    Template.fromStack(stackOf(undefined, warm)).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      WarmThroughput: { ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 8_000 },
      WriteOnDemandThroughputSettings,
      GlobalSecondaryIndexes: [Match.objectLike({ WriteOnDemandThroughputSettings })],
    });
    const without = Object.keys(resources('AWS::DynamoDB::GlobalTable')[table]?.Properties ?? {});
    expect(without.filter((name) => name.includes('Throughput'))).toEqual([]);
    expect(without).toContain('KeySchema');
  });

  it.each([
    ['remains with its recovery when the stack is deleted', {}, true, 'RetainExceptOnCreate'],
    ['is deleted with an ephemeral stack', { ephemeral: true }, false, 'Delete'],
  ])('has a replica in the Region of the stack, and %s', (_, settings, DeletionProtectionEnabled, DeletionPolicy) => {
    const PointInTimeRecoverySpecification = DeletionProtectionEnabled
      ? { PointInTimeRecoveryEnabled: true }
      : Match.anyValue();
    const replica = { Region: { Ref: 'AWS::Region' }, DeletionProtectionEnabled, PointInTimeRecoverySpecification };
    Template.fromStack(stackOf(undefined, settings)).hasResource('AWS::DynamoDB::GlobalTable', {
      Properties: { Replicas: [Match.objectLike(replica)] },
      DeletionPolicy,
      UpdateReplacePolicy: DeletionProtectionEnabled ? 'Retain' : 'Delete',
    });
  });
});

it('tokens can be written by none of the functions that write the table', () => {
  const writers = [...statementsByRole.values()].filter((statements) =>
    statements.some(
      ({ Effect, Action, Condition }) =>
        Effect === 'Allow' && !Condition && writes.some((write) => Action.includes(write)),
    ),
  );
  expect(writers.length).toBeGreaterThan(0);
  for (const statements of writers)
    expect(statements).toContainEqual({
      Effect: 'Deny',
      Action: expect.arrayContaining(writes),
      Resource: { 'Fn::GetAtt': [table, 'Arn'] },
      Condition: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': tokenPartitions } },
    });
});

it('the health check may read no other item than the one that is always absent', () => {
  const reads = statementsOf('Health').filter(({ Action }) => String(Action).startsWith('dynamodb:'));
  const Condition = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [absentPartition] } };
  expect(reads).toMatchObject([{ Effect: 'Allow', Action: 'dynamodb:GetItem', Condition }]);
});

const organization = 'acme' as Organization;
/** Returns whether one of the patterns of a policy matches a partition key. */
const matches = (patterns: readonly string[], pk: string) =>
  patterns.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(pk));

it.each([
  ['tokens', tokenPartitions, [keys.token('0123456789ab').pk, keys.tokens(organization)], 'tok'],
  ['the check of the table', [absentPartition], [keys.check().pk], 'check'],
  ['counts of requests', [requestBuckets], [keys.requestBucket(organization).pk], 'rl'],
])(
  'partitions of the policies of %s contain no other items, whatever the names in their keys',
  (_, patterns, own, name) => {
    for (const pk of own) expect(matches(patterns, pk)).toBe(true);
    const upper = name.toUpperCase();
    const { rows, counters } = keys.taskScope(organization, { agent: name, project: `proj_${upper}` });
    const items = [
      keys.task(organization, upper),
      keys.idempotency(organization, `${upper}0`),
      keys.running(organization),
    ];
    for (const pk of [rows, counters, ...items.map((item) => item.pk)]) expect(matches(patterns, pk)).toBe(false);
  },
);

const restoredStream =
  'arn:aws:dynamodb:eu-central-1:123456789012:table/crewboard-restored/stream/2026-01-01T00:00:00.000';
const { template: restored } = synthesized({ restoredStream });

it('a stack with a restored table uses that table only', () => {
  const functions = Object.values(restored.findResources('AWS::Lambda::Function'));
  const names = functions.flatMap(({ Properties }) => Properties.Environment.Variables[environment.tableName] ?? []);
  expect([names.length > 40, new Set(names)]).toEqual([true, new Set(['crewboard-restored'])]);
  restored.hasResourceProperties('AWS::Lambda::EventSourceMapping', { EventSourceArn: restoredStream });
  restored.hasOutput('TableName', { Value: 'crewboard-restored' });
  const { Resources } = restored.toJSON() as { Resources: Record<string, { Type: string }> };
  const others = Object.values(Resources).filter(({ Type }) => Type !== 'AWS::DynamoDB::GlobalTable');
  expect(JSON.stringify(others)).not.toContain(table);
});

it('a stack with a restored table keeps its own protected table for a rollback', () => {
  restored.hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'RetainExceptOnCreate',
    Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })] },
  });
});

it('a stack with a restored table reads the stream of an upgraded stack’s table by its previous mapping, because Lambda rejects a second one', () => {
  const upgraded = Template.fromStack(stackOf(undefined, { restoredStream }, 'small'));
  const mappings = upgraded.findResources('AWS::Lambda::EventSourceMapping', {
    Properties: { EventSourceArn: restoredStream },
  });
  // This is the id in the last version whose own table was not a global table.
  expect(Object.keys(mappings)).toEqual([
    'PipelinePublishEventsDynamoDBEventSourceCrewboardsmallTable99B40E440BDB442D',
  ]);
});
