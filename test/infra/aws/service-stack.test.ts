import { Match, Template } from 'aws-cdk-lib/assertions';
import recommended from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import cdk from '../../../cdk.json' with { type: 'json' };
import { functionSources } from '../../../infra/aws/bundle.ts';
import { constructIdOf } from '../../../infra/aws/functions/service-function.ts';
import { functionNameOf, routes } from '../../../lib/contract/routes.ts';
import { consumers } from '../../../lib/names/consumers.ts';
import { stackOf, synthesized } from './synthesized.ts';

const { template, propertiesOf, functionOf } = synthesized();
const all = propertiesOf('AWS::Lambda::Function');

describe('the stack', () => {
  it('has a function for every file, no others, and outputs for its URL, its table and its key', () => {
    expect(all).toHaveLength(functionSources().length);
    for (const name of ['Url', 'TableName', 'SecretsKeyArn']) template.hasOutput(name, {});
  });

  it('cannot be created if a function of the contract is missing; the error names it', () => {
    const sources = functionSources().filter((source) => !source.endsWith('/get-task.ts'));
    expect(() => stackOf(sources)).toThrow(
      'The contract has getTask, but its function functions/kanban-tasks/get-task.ts is missing.',
    );
  });

  it('is made with every recommended feature flag of the CDK', () => {
    expect(cdk.context).toMatchObject(recommended);
  });

  it('keeps the logical ids of its queues, because CloudFormation would otherwise delete them with their messages', () => {
    expect(Object.keys(template.findResources('AWS::SQS::Queue'))).toEqual(
      expect.arrayContaining([
        'PipelineDeadLetters68B5256A',
        'PipelineDeliveries5B7C000B',
        'PipelineExecutions19CB55CE',
        'PipelineFirstRetry29C0CF52',
        'PipelineSecondRetryDA093B9B',
        'PipelineSlowDeliveries971C0170',
        'PipelineThirdRetry04F9BD81',
      ]),
    );
  });

  it('is protected from deletion, unless it is ephemeral, when it leaves no resources', () => {
    const ephemeral = stackOf(undefined, { ephemeral: true });
    expect([stackOf().terminationProtection, ephemeral.terminationProtection]).toEqual([true, false]);
    expect(JSON.stringify(Template.fromStack(ephemeral).toJSON())).not.toContain('"DeletionPolicy":"Retain');
  });

  it('tags its resources with the service, the stage and the tags of the settings; the table has its own tags', () => {
    const tagged = stackOf(undefined, { tags: { team: 'crew' } }, 'prod');
    const tags = { service: 'crewboard', stage: 'prod', team: 'crew' };
    expect(tagged.tags.tagValues()).toEqual(tags);
    const template = Template.fromStack(tagged);
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) })],
    });
    // The console shows the stage in the name of the API.
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { Name: 'Crewboard-prod' });
    expect(stackOf().tags.tagValues()).toEqual({ service: 'crewboard', stage: 'default' });
  });

  it('logs requests to a log group that needs no policy statement of its own', () => {
    const [name] = propertiesOf('AWS::Logs::LogGroup').flatMap(({ LogGroupName = [] }) => LogGroupName);
    const unique = { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] };
    expect(name).toEqual({
      'Fn::Join': ['', ['/aws/vendedlogs/', { Ref: 'AWS::StackName' }, '/access/', unique]],
    });
  });
});

describe('every function', () => {
  it('runs on Node.js 24 on arm64, and logs JSON to the group of its role', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN' },
    });
    const pairs = all.map(({ Role, LoggingConfig }) => [Role['Fn::GetAtt'][0], LoggingConfig.LogGroup.Ref]);
    const distinct = (values: unknown[]) => new Set(values).size;
    const count = distinct(pairs.map(String));
    expect([distinct(pairs.map(([role]) => role)), distinct(pairs.map(([, group]) => group))]).toEqual([count, count]);
  });

  it('shares its role with exactly the functions that have the same rights in the contract', () => {
    const sharing = (names: (readonly [string, string])[]) =>
      [...Map.groupBy(names, ([, by]) => by).values()].map((group) => group.map(([name]) => name).sort()).sort();
    const byRights = [
      ['unmatched', 'open'] as const,
      ...new Map(
        routes.map(([operation, row]) => {
          const { scope, offersTools, method, secrets, asksModels, checksTable = false } = row;
          const open = checksTable ? 'checks' : 'open';
          const rights = scope || offersTools ? JSON.stringify([method === 'GET', secrets, asksModels]) : open;
          return [functionNameOf(operation, row), rights];
        }),
      ),
      ...Object.keys(consumers).map((name) => [name, `only ${name}`] as const),
    ];
    const byRole = byRights.map(([name]) => [name, functionOf(constructIdOf(name)).Role['Fn::GetAtt'][0]] as const);
    expect(sharing(byRole)).toEqual(sharing(byRights));
  });
});
