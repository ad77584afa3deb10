import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../../infra/aws/functions/service-function.ts';
import { type Consumer, consumers } from '../../../lib/names/consumers.ts';
import { environment } from '../../../lib/names/environment.ts';
import { queues } from '../../../lib/names/queues.ts';
import { pollingOf } from '../../../lib/settings/polling.ts';
import { synthesized } from './synthesized.ts';

const day = 24 * 60 * 60;
const polling = pollingOf();

const { template, resources, propertiesOf, logicalId, queueOf, functionOf, statementsByRole } = synthesized();
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
const queueProperties = (name: string) => resources('AWS::SQS::Queue')[queueOf(name)]?.Properties;

it('the consumers have their timeouts, in which an execution ends within the limit of Lambda, and no other source', () => {
  for (const { id, timeoutSeconds } of rows) expect(functionOf(id).Timeout).toBe(timeoutSeconds);
  expect(consumers.runExecution.timeoutSeconds).toBeGreaterThan(600);
  expect(consumers.runExecution.timeoutSeconds).toBeLessThanOrEqual(900);
  template.resourceCountIs('AWS::Lambda::EventSourceMapping', streams.length + polled.length);
  template.resourceCountIs('AWS::Scheduler::Schedule', clocks.length);
});

it.each(streams)(
  'the stream calls $id for changes of items of its kinds, except quiet ones, and for new items of others',
  (source) => {
    const { kind, attribute, value } = source.quiet;
    const patterns = [
      { dynamodb: { NewImage: { kind: { S: source.kinds.filter((other) => other !== kind) } } } },
      { dynamodb: { NewImage: { kind: { S: [kind] }, [attribute]: { S: [{ 'anything-but': [value] }] } } } },
      { eventName: ['INSERT'], dynamodb: { NewImage: { kind: { S: [kind, ...source.onlyNew] } } } },
      { eventName: ['REMOVE'], dynamodb: { OldImage: { kind: { S: [...source.kinds] } } } },
    ];
    expectMapping(source.id, {
      EventSourceArn: { 'Fn::GetAtt': [table, 'StreamArn'] },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: source.batchSize,
      ParallelizationFactor: source.concurrency,
      FilterCriteria: { Filters: patterns.map((pattern) => ({ Pattern: Match.serializedJson(pattern) })) },
      // A record that cannot be handled is skipped at an age of 20 h, not after a number of attempts.
      ...{ MaximumRetryAttempts: -1, MaximumRecordAgeInSeconds: 72_000, BisectBatchOnFunctionError: true },
    });
  },
);

it('a schedule calls the function of each job every minute, without retries, by a role with no other right', () => {
  const functions = {
    deliveries: 'SweepOverdue',
    recoveries: 'SweepOverdue',
    executions: 'SweepOverdue',
    tasks: 'SweepOverdue',
    heartbeat: 'SweepOverdue',
    purges: 'PurgeAgent',
  };
  expect(Object.fromEntries(clocks.map(({ id, job }) => [job, id]))).toEqual(functions);
  const schedules = propertiesOf('AWS::Scheduler::Schedule');
  expect(schedules).toHaveLength(Object.keys(functions).length);
  const [role = '', ...others] = new Set(schedules.map(({ Target }): string => Target.RoleArn['Fn::GetAtt'][0]));
  expect(others).toEqual([]);
  const [statement, ...more] = statementsByRole.get(role) ?? [];
  const invoked = [...new Set(Object.values(functions))].map((id) => ({ 'Fn::GetAtt': [logicalId(id), 'Arn'] }));
  expect([statement?.Action, new Set([statement?.Resource].flat()), more]).toEqual([
    ...['lambda:InvokeFunction', new Set(invoked), []],
  ]);
  expect(resources('AWS::IAM::Role')[role]?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
    {
      ...{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'scheduler.amazonaws.com' } },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    },
  ]);
  const once = { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 };
  for (const [job, id] of Object.entries(functions)) {
    const Arn = { 'Fn::GetAtt': [logicalId(id), 'Arn'] };
    const schedule = schedules.find(({ Target }) => JSON.parse(Target.Input).detail.job === job);
    expect(schedule).toMatchObject({
      ...{ ScheduleExpression: 'rate(1 minute)', State: 'ENABLED', FlexibleTimeWindow: { Mode: 'OFF' } },
      Target: { Arn, RetryPolicy: once },
    });
    const FunctionName = { Ref: logicalId(id) };
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', { FunctionName, Qualifier: '$LATEST', ...once });
  }
});

describe('the queues', () => {
  it.each(polled)(
    'send $queue to $id, which reports each failed message, hide it for longer than a call, and set it aside after five failures',
    ({ id, queue, timeoutSeconds }) => {
      expectMapping(id, {
        EventSourceArn: { 'Fn::GetAtt': [queueOf(queue), 'Arn'] },
        BatchSize: polling[queue].batchSize,
        ScalingConfig: { MaximumConcurrency: polling[queue].concurrency },
      });
      const properties = queueProperties(queue);
      expect(properties?.VisibilityTimeout).toBe(queues[queue].visibilitySeconds);
      expect(properties?.VisibilityTimeout).toBeGreaterThan(timeoutSeconds);
      const deadLetterTargetArn = { 'Fn::GetAtt': [queueOf('deadLetters'), 'Arn'] };
      expect(properties?.RedrivePolicy).toEqual({ maxReceiveCount: 5, deadLetterTargetArn });
      // The default retention of SQS. The time of a dead letter starts when its message was first sent.
      expect(properties?.MessageRetentionPeriod ?? 4 * day).toBeLessThan(14 * day);
    },
  );

  it.each([
    ['by default', {}, [300, 900, 900]],
    ['with an own retry schedule', { retryLadder: [60, 300, 3_600] }, [60, 300, 900]],
  ])(
    'delay retries by their step of the retry schedule, as far as SQS can, %s, and no other messages',
    (_, own, delays) => {
      const stack = synthesized(own);
      const delayOf = (name: string) =>
        stack.resources('AWS::SQS::Queue')[stack.queueOf(name)]?.Properties.DelaySeconds;
      const expected = { firstRetry: delays[0], secondRetry: delays[1], thirdRetry: delays[2] };
      const names = Object.keys(queues);
      expect(names.map((name) => [name, delayOf(name)])).toEqual(
        names.map((name) => [name, expected[name as keyof typeof expected]]),
      );
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

  it.each(rows)('have their URLs in the environment of $id, if it sends to them', ({ id, sendsTo }) => {
    const known = Object.fromEntries(sendsTo.map((name) => [queues[name].urlVariable, { Ref: queueOf(name) }]));
    expect(functionOf(id).Environment.Variables).toMatchObject(known);
  });

  it('are encrypted, and share one dead-letter queue that keeps messages for 14 days and that no function polls', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    // The policies deny unencrypted connections.
    template.resourceCountIs('AWS::SQS::QueuePolicy', Object.keys(queues).length);
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
