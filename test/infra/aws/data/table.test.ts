import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { requestBuckets, tokenPartitions } from '../../../../infra/aws/data/table.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { stackOf, synthesized, writes } from '../synthesized.ts';

const { template, resources, statementsByRole } = synthesized();
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

describe('tokens', () => {
  it('can be written by none of the functions that write the table', () => {
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
});

describe('partitions of the policies', () => {
  const organization = 'acme' as Organization;
  /** Returns whether one of the patterns of a policy matches a partition key. */
  const matches = (patterns: readonly string[], pk: string) =>
    patterns.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(pk));

  it.each([
    ['tokens', tokenPartitions, [keys.token('0123456789ab').pk, keys.tokens(organization)], 'tok'],
    ['counts of requests', [requestBuckets], [keys.requestBucket(organization).pk], 'rl'],
  ])('of %s contain no other items, whatever the names in their keys', (_, patterns, own, name) => {
    for (const pk of own) expect(matches(patterns, pk)).toBe(true);
    const upper = name.toUpperCase();
    const { rows, counters } = keys.taskScope(organization, { agent: name, project: `proj_${upper}` });
    const items = [
      keys.task(organization, upper),
      keys.idempotency(organization, `${upper}0`),
      keys.running(organization),
    ];
    for (const pk of [rows, counters, ...items.map((item) => item.pk)]) expect(matches(patterns, pk)).toBe(false);
  });
});
