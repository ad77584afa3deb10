import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { requestBuckets, tokenPartitions } from '../../../../infra/aws/data/table.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { stackOf, synthesized, writes } from '../synthesized.ts';

const { template, resources, statementsByRole } = synthesized();
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));

describe('the table', () => {
  it('is a global table in the stack’s Region, to which replicas can be added', () => {
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ Region: { Ref: 'AWS::Region' } })],
    });
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
  });

  it('keeps its logical id, because CloudFormation would otherwise create an empty table', () => {
    expect(table).toBe('GlobalTable89F068B2');
  });

  it('has the keys, the expiry, the stream and the keys-only index that the functions need, billed on demand', () => {
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      GlobalSecondaryIndexes: [
        {
          IndexName: 'due',
          KeySchema: [
            { AttributeName: 'due', KeyType: 'HASH' },
            { AttributeName: 'dueAt', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
  });

  it('has point-in-time recovery and deletion protection, and remains when the stack is deleted', () => {
    template.hasResource('AWS::DynamoDB::GlobalTable', {
      Properties: {
        Replicas: [
          Match.objectLike({
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
            DeletionProtectionEnabled: true,
          }),
        ],
      },
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });

  it('is deleted with an ephemeral stack', () => {
    Template.fromStack(stackOf(undefined, { ephemeral: true })).hasResource('AWS::DynamoDB::GlobalTable', {
      Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] },
      DeletionPolicy: 'Delete',
    });
  });
});

describe('tokens', () => {
  const organization = 'acme' as Organization;
  const isOfTokens = (pk: string) =>
    tokenPartitions.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(pk));

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

  it('are in partitions without other items, whatever the name of the organization', () => {
    expect(isOfTokens(keys.token('0123456789ab').pk)).toBe(true);
    expect(isOfTokens(keys.tokens(organization))).toBe(true);
    const { rows, counters } = keys.taskScope(organization, { agent: 'tok', project: 'proj_TOK' });
    const others = [keys.task(organization, 'TOK').pk, keys.idempotency(organization, 'TOK0').pk, rows, counters];
    expect(others.filter(isOfTokens)).toEqual([]);
  });
});

describe('the counts of requests', () => {
  const organization = 'acme' as Organization;
  const isCount = (pk: string) => new RegExp(`^${requestBuckets.replaceAll('*', '.*')}$`).test(pk);

  it('are in a partition without other items, whatever the name of the organization', () => {
    expect(isCount(keys.requestBucket(organization).pk)).toBe(true);
    const { rows, counters } = keys.taskScope(organization, { agent: 'rl', project: 'proj_RL' });
    const others = [
      keys.task(organization, 'RL').pk,
      keys.token('RL').pk,
      keys.running(organization).pk,
      rows,
      counters,
    ];
    expect(others.filter(isCount)).toEqual([]);
  });
});
