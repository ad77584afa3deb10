import { describe, expect, it } from 'vitest';
import { functionSources } from '../../../infra/aws/bundle.ts';
import { everything } from './all-options.ts';
import { synthesized } from './synthesized.ts';

const { template, resources, statementsByRole } = synthesized();
const statements = [...statementsByRole.values()].flat();

/** The actions that roles may take on everything of a kind: a set for each role that has any. */
const actionsEverywhere = (stack: ReturnType<typeof synthesized>) =>
  [...stack.statementsByRole].flatMap(([id, ofRole]) => {
    const everywhere = ofRole.filter(({ Resource }) => [Resource].flat().includes('*'));
    const actions = everywhere.flatMap(({ Action }) => Action).sort();
    return actions.length > 0 ? [[id.replace(/(Role)?[0-9A-F]{8}$/, ''), actions] as const] : [];
  });

describe('the rights of the stack', () => {
  it('name every action', () => {
    for (const { Action } of statements) expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
  });

  it('are on everything of a kind for one action only, in the roles that need it', () => {
    expect(actionsEverywhere(synthesized()).sort()).toEqual([
      ['ApiReadsWritesAsksModels', ['bedrock:InvokeModel']],
      ['PipelineRunExecution', ['bedrock:InvokeModel']],
    ]);
  });

  it('are on everything of a kind for reading alarms and writing traces beside, where every optional part is on', () => {
    const traces = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
    const models = 'bedrock:InvokeModel';
    for (const [id, actions] of actionsEverywhere(synthesized(everything)))
      if (id === 'Canary')
        expect(actions).toEqual(['cloudwatch:DescribeAlarms', 'lambda:GetProvisionedConcurrencyConfig']);
      else expect([id, actions.filter((action) => action !== models)]).toEqual([id, traces]);
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
