import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../../infra/aws/functions/service-function.ts';
import { type Consumer, consumers } from '../../../lib/deployment/consumers.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { pollingOf } from '../../../lib/deployment/polling.ts';
import { queues } from '../../../lib/deployment/queues.ts';
import { synthesized } from './synthesized.ts';

type Queue = { VisibilityTimeout?: number; MessageRetentionPeriod?: number; RedrivePolicy?: object };
type Rule = { ScheduleExpression: string; State: string; Targets: { Input: string }[] };

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
const streams = sources.flatMap(({ id, source }) => ('stream' in source ? [{ id, ...source }] : []));
const clocks = sources.flatMap(({ id, source }) => ('everySeconds' in source ? [{ id, ...source }] : []));
const polled = sources.flatMap(({ source, ...row }) => ('queue' in source ? [{ ...row, queue: source.queue }] : []));

const expectMapping = (id: string, properties: object) =>
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    FunctionName: { Ref: logicalId(id) },
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ...properties,
  });
const queueProperties = (name: string) => resources<Queue>('AWS::SQS::Queue')[queueOf(name)]?.Properties;

describe('the consumers', () => {
  it.each(rows)('give $id a timeout of $timeoutSeconds s', ({ id, timeoutSeconds }) => {
    expect(functionOf(id).Timeout).toBe(timeoutSeconds);
  });

  it('are called by no other source', () => {
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', streams.length + polled.length);
    template.resourceCountIs('AWS::Events::Rule', 1);
  });

  it('give an execution a longer timeout than its ten minutes, up to the limit of Lambda', () => {
    expect(consumers.runExecution.timeoutSeconds).toBeGreaterThan(600);
    expect(consumers.runExecution.timeoutSeconds).toBeLessThanOrEqual(900);
  });
});

it.each(streams)('the stream calls $id for created, changed and deleted items of its kinds', (source) => {
  const kind = { kind: { S: [...source.kinds] } };
  const images = [{ NewImage: kind }, { OldImage: kind }];
  expectMapping(source.id, {
    EventSourceArn: { 'Fn::GetAtt': [table, 'StreamArn'] },
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: source.batchSize,
    ParallelizationFactor: source.concurrency,
    FilterCriteria: { Filters: images.map((dynamodb) => ({ Pattern: Match.serializedJson({ dynamodb }) })) },
    // A record that cannot be handled is skipped at an age of 20 h, not after a number of attempts.
    ...{ MaximumRetryAttempts: -1, MaximumRecordAgeInSeconds: 72_000, BisectBatchOnFunctionError: true },
  });
});

it('one rule calls the sweep every minute for each kind and for the heartbeat, without retries', () => {
  const jobs = ['deliveries', 'executions', 'heartbeat', 'purges'];
  expect(clocks.map(({ id, job }) => `${id} ${job}`).sort()).toEqual(jobs.map((job) => `SweepOverdue ${job}`));
  const [rule] = Object.values(resources<Rule>('AWS::Events::Rule')).map(({ Properties }) => Properties);
  expect(rule).toMatchObject({ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' });
  expect(rule?.Targets.map(({ Input }) => JSON.parse(Input).detail.job).sort()).toEqual(jobs);
  const once = { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 };
  const Arn = { 'Fn::GetAtt': [logicalId('SweepOverdue'), 'Arn'] };
  for (const target of rule?.Targets ?? []) expect(target).toMatchObject({ Arn, RetryPolicy: once });
  const FunctionName = { Ref: logicalId('SweepOverdue') };
  template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', { FunctionName, Qualifier: '$LATEST', ...once });
});

describe('the queues', () => {
  it.each(polled)('send $queue to $id, which reports each failed message', ({ id, queue }) => {
    expectMapping(id, {
      EventSourceArn: { 'Fn::GetAtt': [queueOf(queue), 'Arn'] },
      BatchSize: polling[queue].batchSize,
      ScalingConfig: { MaximumConcurrency: polling[queue].concurrency },
    });
  });

  it.each(polled)(
    'hide a message of $queue for longer than a call, and set it aside after five failures',
    ({ queue, timeoutSeconds }) => {
      const properties = queueProperties(queue);
      expect(properties?.VisibilityTimeout).toBe(queues[queue].visibilitySeconds);
      expect(properties?.VisibilityTimeout).toBeGreaterThan(timeoutSeconds);
      const deadLetterTargetArn = { 'Fn::GetAtt': [queueOf('deadLetters'), 'Arn'] };
      expect(properties?.RedrivePolicy).toEqual({ maxReceiveCount: 5, deadLetterTargetArn });
      // The default retention of SQS. The time of a dead letter starts when its message was first sent.
      expect(properties?.MessageRetentionPeriod ?? 4 * day).toBeLessThan(14 * day);
    },
  );

  it('have the concurrency of the settings, by default as the quota allows', () => {
    const context = { lambdaConcurrency: 100, queues: { deliveries: { batchSize: 5, concurrency: 40 } } };
    const { template: other } = synthesized(context);
    for (const { batchSize: BatchSize, concurrency: MaximumConcurrency } of [
      context.queues.deliveries,
      pollingOf(100).executions,
    ])
      other.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        BatchSize,
        ScalingConfig: { MaximumConcurrency },
      });
  });

  it('let one slow webhook use half of the calls of slow deliveries', () => {
    const allowed = rows.map(({ id }) => [id, functionOf(id).Environment.Variables[environment.slowAttempts]]);
    const half = String(polling.slowDeliveries.concurrency / 2);
    expect(allowed).toEqual(rows.map(({ id }) => [id, id === 'DeliverWebhook' ? half : undefined]));
  });

  it('are encrypted, and deny unencrypted connections', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    template.resourceCountIs('AWS::SQS::QueuePolicy', Object.keys(resources('AWS::SQS::Queue')).length);
  });

  it.each(rows)('have their URLs in the environment of $id, if it sends to them', ({ id, sendsTo }) => {
    const known = Object.fromEntries(sendsTo.map((name) => [queues[name].urlVariable, { Ref: queueOf(name) }]));
    expect(functionOf(id).Environment.Variables).toMatchObject(known);
  });

  it('share one dead-letter queue that keeps messages for 14 days and that no function polls', () => {
    const dead = queueProperties('deadLetters');
    expect([dead?.MessageRetentionPeriod, dead?.RedrivePolicy]).toEqual([14 * day, undefined]);
    template.resourceCountIs('AWS::SQS::Queue', Object.keys(queues).length);
    expect(polled.map(({ queue }) => String(queue))).not.toContain('deadLetters');
  });

  it('receive messages of the function that they call only for retries and throttled executions', () => {
    const looping = rows.filter(({ id }) => functionOf(id).RecursiveLoop === 'Allow').map(({ id }) => id);
    expect(looping.sort()).toEqual(['DeliverWebhook', 'RunExecution']);
    for (const { id } of rows) expect(functionOf(id).RecursiveLoop).toBe(looping.includes(id) ? 'Allow' : 'Terminate');
  });
});
