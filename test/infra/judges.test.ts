import { describe, expect, it } from 'vitest';
import { functionSources } from '../../infra/aws/bundle.ts';
import { type Statement, synthesized } from './synthesized.ts';

type Policy = { PolicyDocument: { Statement: Statement[] } };

const { template, resources } = synthesized();
const statements = Object.entries(resources<Policy>('AWS::IAM::Policy')).flatMap(([id, { Properties }]) =>
  Properties.PolicyDocument.Statement.map((statement) => ({ id, ...statement })),
);

describe('the rights of the stack', () => {
  it('name every action', () => {
    for (const { Action } of statements) expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
  });

  it('are on everything of a kind for two actions only, in the functions that need them', () => {
    const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
    expect(everywhere.map(({ id, Action }) => [id.replace(/Role.*/, ''), Action]).sort()).toEqual([
      ['ApiSelfImproveAgent', 'bedrock:InvokeModel'],
      ['PipelinePublishEvents', 'dynamodb:ListStreams'],
      ['PipelineRunExecution', 'bedrock:InvokeModel'],
    ]);
  });
});

describe('the template', () => {
  it('keeps well below the 500 resources that CloudFormation takes', () => {
    expect(Object.keys(template.toJSON().Resources).length).toBeLessThan(450);
    expect(Object.keys(resources('AWS::Lambda::Function'))).toHaveLength(functionSources().length);
  });

  it('has no bucket, public or not', () => {
    template.resourceCountIs('AWS::S3::Bucket', 0);
  });

  it('encrypts its queues; the table and the logs are by themselves', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
  });
});
