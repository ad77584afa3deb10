import { describe, expect, it } from 'vitest';
import { functionSources } from '../../infra/aws/bundle.ts';
import { synthesized } from './synthesized.ts';

const { template, resources, statementsByRole } = synthesized();
const statements = [...statementsByRole].flatMap(([id, ofRole]) => ofRole.map((statement) => ({ id, ...statement })));

describe('the rights of the stack', () => {
  it('name every action', () => {
    for (const { Action } of statements) expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
  });

  it('are on everything of a kind for one action only, in the roles that need it', () => {
    const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
    expect(everywhere.map(({ id, Action }) => [id.replace(/Role.*/, ''), Action]).sort()).toEqual([
      ['ApiReadsWritesAsksModels', 'bedrock:InvokeModel'],
      ['PipelineRunExecution', 'bedrock:InvokeModel'],
    ]);
  });
});

describe('the template', () => {
  it('has a function for every source', () => {
    expect(Object.keys(resources('AWS::Lambda::Function'))).toHaveLength(functionSources().length);
  });

  it('has no bucket, public or not', () => {
    template.resourceCountIs('AWS::S3::Bucket', 0);
  });

  it('encrypts its queues; the table and the logs are by themselves', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
  });
});
