import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { functionSources } from '../../infra/aws/bundle.ts';
import { stackOf, synthesized } from './synthesized.ts';

const { template, functions } = synthesized();
const all = Object.values(functions).map(({ Properties }) => Properties);

describe('the stack', () => {
  it('has a function for every file, and no other', () => {
    expect(all).toHaveLength(functionSources().length);
  });

  it('cannot be built while a function of the contract is missing, and says which', () => {
    const sources = functionSources().filter((source) => !source.endsWith('/get-task.ts'));
    expect(() => stackOf(sources)).toThrow(
      'The contract has getTask, but its function functions/kanban-tasks/get-task.ts is missing.',
    );
  });

  it('is protected from being deleted, unless it is ephemeral', () => {
    expect(stackOf().terminationProtection).toBe(true);
    expect(stackOf(undefined, { ephemeral: 'true' }).terminationProtection).toBe(false);
  });

  it('leaves nothing behind that it made where it is ephemeral', () => {
    const { Resources } = Template.fromStack(stackOf(undefined, { ephemeral: 'true' })).toJSON() as {
      Resources: Record<string, { DeletionPolicy?: string }>;
    };
    expect(Object.values(Resources).filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'))).toEqual([]);
  });

  it('says where it answers and what its table is', () => {
    template.hasOutput('Url', {});
    template.hasOutput('TableName', {});
  });
});

describe('every function', () => {
  it('runs on Node.js 24 on arm64', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
    });
  });

  it('logs JSON to a group of its own, kept for 30 days', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN' },
    });
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    expect(new Set(all.map(({ LoggingConfig }) => LoggingConfig.LogGroup.Ref)).size).toBe(all.length);
  });

  it('has a role of its own, without managed policies', () => {
    expect(new Set(all.map(({ Role }) => Role['Fn::GetAtt'][0])).size).toBe(all.length);
    template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  });

  it('reserves no concurrency: a new account has too little to share out', () => {
    template.allResourcesProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: Match.absent() });
  });
});
