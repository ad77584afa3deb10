import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { environment } from '../../../../lib/deployment/environment.ts';
import { stackOf } from '../synthesized.ts';

const restoredStream =
  'arn:aws:dynamodb:eu-central-1:123456789012:table/crewboard-restored/stream/2026-01-01T00:00:00.000';
const template = Template.fromStack(stackOf(undefined, { restoredStream }));
const [own = ''] = Object.keys(template.findResources('AWS::DynamoDB::GlobalTable'));

it('a stack with a restored table uses that table only', () => {
  const functions = Object.values(template.findResources('AWS::Lambda::Function'));
  for (const { Properties } of functions)
    expect(Properties.Environment.Variables[environment.tableName]).toBe('crewboard-restored');
  expect(functions.length).toBeGreaterThan(0);
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { EventSourceArn: restoredStream });
  template.hasOutput('TableName', { Value: 'crewboard-restored' });
  const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string }> };
  const others = Object.values(Resources).filter(({ Type }) => Type !== 'AWS::DynamoDB::GlobalTable');
  expect(JSON.stringify(others)).not.toContain(own);
});

it('keeps its own protected table for a rollback', () => {
  template.hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'RetainExceptOnCreate',
    Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: true })] },
  });
});

it('reads the stream of an upgraded stack’s table by its previous mapping, because Lambda rejects a second one', () => {
  const upgraded = Template.fromStack(stackOf(undefined, { restoredStream }, 'small'));
  const mappings = upgraded.findResources('AWS::Lambda::EventSourceMapping', {
    Properties: { EventSourceArn: restoredStream },
  });
  // This is the id in the last version whose own table was not a global table.
  expect(Object.keys(mappings)).toEqual([
    'PipelinePublishEventsDynamoDBEventSourceCrewboardsmallTable99B40E440BDB442D',
  ]);
});
