import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../../infra/aws/functions/service-function.ts';
import { type Consumer, consumers } from '../../../lib/deployment/consumers.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { pollingOf } from '../../../lib/deployment/polling.ts';
import { queues } from '../../../lib/deployment/queues.ts';
import { synthesized } from './synthesized.ts';

type RedrivePolicy = { deadLetterTargetArn: { 'Fn::GetAtt': [string, 'Arn'] }; maxReceiveCount: number };
type Queue = { VisibilityTimeout?: number; MessageRetentionPeriod?: number; RedrivePolicy?: RedrivePolicy };

type RuleProperties = {
  ScheduleExpression: string;
  State: string;
  Targets: { Arn: unknown; Input?: string; RetryPolicy: object }[];
};

/** A duration in seconds. */
const day = 24 * 60 * 60;
const polling = pollingOf();

const { template, resources, logicalId, queueOf, functionOf } = synthesized();
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));
const rows = Object.entries(consumers as Record<string, Consumer>).map(([name, row]) => ({
  id: constructIdOf(name),
  ...row,
}));
const sources = rows.flatMap(({ id, sources, timeoutSeconds }) =>
  sources.map((source) => ({ id, source, timeoutSeconds })),
);
const fed = (id: string): string[] =>
  sources.flatMap((row) => (row.id === id && 'queue' in row.source ? [row.source.queue] : []));

const mappingOf = (id: string, properties: object) =>
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    FunctionName: { Ref: logicalId(id) },
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ...properties,
  });

describe('the consumers', () => {
  it.each(rows)('give $id a timeout of $timeoutSeconds s', ({ id, timeoutSeconds }) => {
    expect(functionOf(id).Timeout).toBe(timeoutSeconds);
  });

  it('are called by no other source', () => {
    const called = sources.filter(({ source }) => !('everySeconds' in source));
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', called.length);
    template.resourceCountIs('AWS::Events::Rule', 1);
  });
});

describe('the stream', () => {
  for (const { id, source } of sources)
    if ('stream' in source) {
      it(`calls ${id} for created, changed and deleted items of the kinds ${source.kinds.join(', ')}`, () => {
        const kind = { kind: { S: [...source.kinds] } };
        mappingOf(id, {
          EventSourceArn: { 'Fn::GetAtt': [table, 'StreamArn'] },
          StartingPosition: 'TRIM_HORIZON',
          BatchSize: source.batchSize,
          ParallelizationFactor: source.concurrency,
          FilterCriteria: {
            Filters: [
              { Pattern: Match.serializedJson({ dynamodb: { NewImage: kind } }) },
              { Pattern: Match.serializedJson({ dynamodb: { OldImage: kind } }) },
            ],
          },
        });
      });

      it(`skips a record that ${id} cannot handle at an age of 20 h, not after a number of attempts`, () => {
        const limits = { MaximumRetryAttempts: -1, MaximumRecordAgeInSeconds: 72_000 };
        mappingOf(id, { ...limits, BisectBatchOnFunctionError: true });
      });
    }
});

describe('the schedules', () => {
  const clocks = sources.flatMap(({ id, source }) => ('everySeconds' in source ? [{ id, ...source }] : []));
  const rules = Object.values(resources<RuleProperties>('AWS::Events::Rule')).map(({ Properties }) => Properties);
  const [rule] = rules;
  const jobOf = ({ Input = '{}' }: RuleProperties['Targets'][number]) => JSON.parse(Input).detail?.job;

  it('call the sweep once for each kind and for the heartbeat, by one rule', () => {
    expect(clocks.map(({ id, job }) => `${id} ${job}`).sort()).toEqual(
      ['deliveries', 'executions', 'heartbeat', 'purges'].map((job) => `SweepOverdue ${job}`),
    );
    expect(rules.flatMap(({ Targets }) => Targets.map(jobOf)).sort()).toEqual(clocks.map(({ job }) => job).sort());
    expect(rule?.Targets.length).toBeLessThanOrEqual(5);
  });

  it.each(clocks)('call $id every minute for $job, without retries', ({ id, job }) => {
    expect(rule).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' });
    expect(rule?.Targets.find((target) => jobOf(target) === job)).toMatchObject({
      Arn: { 'Fn::GetAtt': [logicalId(id), 'Arn'] },
      RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: logicalId(id) },
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    });
  });
});

describe('the queues', () => {
  for (const { id, source, timeoutSeconds } of sources)
    if ('queue' in source) {
      it(`send ${source.queue} to ${id}, which reports each failed message`, () => {
        mappingOf(id, {
          EventSourceArn: { 'Fn::GetAtt': [queueOf(source.queue), 'Arn'] },
          BatchSize: polling[source.queue].batchSize,
          ScalingConfig: { MaximumConcurrency: polling[source.queue].concurrency },
        });
      });

      it(`hide a message of ${source.queue} for longer than a call, and set it aside after five failures`, () => {
        const queue = resources<Queue>('AWS::SQS::Queue')[queueOf(source.queue)]?.Properties;
        expect(queue?.VisibilityTimeout).toBe(queues[source.queue].visibilitySeconds);
        expect(queue?.VisibilityTimeout).toBeGreaterThan(timeoutSeconds);
        expect(queue?.RedrivePolicy).toEqual({
          maxReceiveCount: 5,
          deadLetterTargetArn: { 'Fn::GetAtt': [queueOf('deadLetters'), 'Arn'] },
        });
        // The default retention of SQS. The time of a dead letter starts when its message was first sent.
        expect(queue?.MessageRetentionPeriod ?? 4 * day).toBeLessThan(14 * day);
      });
    }

  it('have the concurrency of the settings, by default as the quota allows', () => {
    const context = { lambdaConcurrency: 100, queues: { deliveries: { batchSize: 5, concurrency: 40 } } };
    const { template: other } = synthesized(context);
    other.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 5,
      ScalingConfig: { MaximumConcurrency: 40 },
    });
    other.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: pollingOf(100).executions.concurrency },
    });
  });

  it('let one slow webhook use half of the calls of slow deliveries', () => {
    const variables = functionOf('DeliverWebhook').Environment.Variables;
    expect(variables[environment.slowAttempts]).toBe(String(polling.slowDeliveries.concurrency / 2));
    for (const { id } of rows.filter((row) => row.id !== 'DeliverWebhook'))
      expect(functionOf(id).Environment.Variables).not.toHaveProperty(environment.slowAttempts);
  });

  it('are encrypted, and deny unencrypted connections', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    template.resourceCountIs('AWS::SQS::QueuePolicy', Object.keys(resources('AWS::SQS::Queue')).length);
  });

  it.each([
    ['PublishEvents', ['deliveries', 'executions', 'purges', 'deadLetters']],
    ['DeliverWebhook', ['deliveries', 'slowDeliveries', 'firstRetry', 'secondRetry', 'thirdRetry']],
    ['SweepOverdue', ['deliveries', 'executions', 'purges', 'firstRetry', 'secondRetry', 'thirdRetry']],
  ] as const)('have their URLs in the environment of %s, which sends to %j', (id, names) => {
    const known = Object.fromEntries(names.map((name) => [queues[name].urlVariable, { Ref: queueOf(name) }]));
    expect(functionOf(id).Environment.Variables).toMatchObject(known);
  });

  it('share one dead-letter queue that keeps messages for 14 days', () => {
    const dead = resources<Queue>('AWS::SQS::Queue')[queueOf('deadLetters')]?.Properties;
    expect(dead).toMatchObject({ MessageRetentionPeriod: 14 * day });
    expect(dead).not.toHaveProperty('RedrivePolicy');
    expect(Object.keys(resources('AWS::SQS::Queue'))).toHaveLength(Object.keys(queues).length);
    expect(sources.filter(({ source }) => 'queue' in source && String(source.queue) === 'deadLetters')).toEqual([]);
  });

  it('receive messages of the function that they call only for retries and throttled executions', () => {
    for (const { id } of rows)
      expect(functionOf(id).RecursiveLoop).toBe(/DeliverWebhook|RunExecution/.test(id) ? 'Allow' : 'Terminate');
    expect(fed('DeliverWebhook')).toContain('thirdRetry');
    expect(fed('RunExecution')).toEqual(['executions']);
  });
});
