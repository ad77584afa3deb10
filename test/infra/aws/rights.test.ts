import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { allOptions } from './all-options.ts';
import { synthesized } from './synthesized.ts';

const { template, statementsByRole } = synthesized();
const statements = [...statementsByRole.values()].flat();

/** Returns the allowed actions on the resource `*`, for each role that has any. */
const actionsEverywhere = (stack: ReturnType<typeof synthesized>) =>
  [...stack.statementsByRole].flatMap(([id, ofRole]) => {
    const everywhere = ofRole.filter(({ Resource }) => [Resource].flat().includes('*'));
    const actions = everywhere.flatMap(({ Action }) => Action).sort();
    return actions.length > 0 ? [[id.replace(/(Role)?[0-9A-F]{8}$/, ''), actions] as const] : [];
  });

describe('the rights of the stack', () => {
  it('come from no managed policy', () => {
    template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  });

  it('contain no wildcard in actions', () => {
    for (const { Action } of statements) expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
  });

  it('are on all resources for one action only, in the roles that need it', () => {
    expect(actionsEverywhere(synthesized()).sort()).toEqual([
      ['ApiReadsWritesAsksModels', ['bedrock:InvokeModel']],
      ['PipelineRunExecution', ['bedrock:InvokeModel']],
    ]);
  });

  it('with every option are on all resources also for reading alarms and writing traces', () => {
    const traces = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
    const models = 'bedrock:InvokeModel';
    for (const [id, actions] of actionsEverywhere(synthesized(allOptions)))
      if (id === 'Canary')
        expect(actions).toEqual(['cloudwatch:DescribeAlarms', 'lambda:GetProvisionedConcurrencyConfig']);
      else expect([id, actions.filter((action) => action !== models)]).toEqual([id, traces]);
  });
});

it('the template has no bucket', () => {
  template.resourceCountIs('AWS::S3::Bucket', 0);
});
