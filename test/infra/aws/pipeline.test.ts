import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type Consumer, consumers } from '../../../lib/deployment/consumers.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { pollingOf } from '../../../lib/deployment/polling.ts';
import { queues } from '../../../lib/deployment/queues.ts';
import { actionsOn, reads, synthesized, writes } from './synthesized.ts';

type RedrivePolicy = { deadLetterTargetArn: { 'Fn::GetAtt': [string, 'Arn'] }; maxReceiveCount: number };
type Queue = { VisibilityTimeout?: number; MessageRetentionPeriod?: number; RedrivePolicy?: RedrivePolicy };

type RuleProperties = {
  ScheduleExpression: string;
  State: string;
  Targets: { Arn: unknown; Input?: string; RetryPolicy: object }[];
};

/** In seconds. */
const day = 24 * 60 * 60;
const polling = pollingOf();

const { template, resources, logicalId, functionOf, statementsOf, allowedTo } = synthesized();
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));
const constructOf = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase());
const rows = Object.entries(consumers as Record<string, Consumer>).map(([name, row]) => ({
  id: constructOf(name),
  ...row,
}));
const sources = rows.flatMap(({ id, sources, timeoutSeconds }) =>
  sources.map((source) => ({ id, source, timeoutSeconds })),
);
const fed = (id: string): string[] =>
  sources.flatMap((row) => (row.id === id && 'queue' in row.source ? [row.source.queue] : []));

/** The logical id of a queue of the contract. */
const queueOf = (name: string): string =>
  Object.keys(resources('AWS::SQS::Queue')).find((id) =>
    new RegExp(`^Pipeline${constructOf(name)}[0-9A-F]{8}$`).test(id),
  ) as string;

const mappingOf = (id: string, properties: object) =>
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    FunctionName: { Ref: logicalId(id) },
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ...properties,
  });

describe('the consumers', () => {
  it.each(rows)('give $id $timeoutSeconds s', ({ id, timeoutSeconds }) => {
    expect(functionOf(id).Timeout).toBe(timeoutSeconds);
  });

  it.each(rows)('let $id read and write the table, and see no token', ({ id }) => {
    expect(allowedTo(id, 'dynamodb')).toEqual(expect.arrayContaining(actionsOn(table, [...reads, ...writes])));
    expect(statementsOf(id)).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Action: [...reads, ...writes].sort() }),
    );
  });

  it('are called by nothing else', () => {
    const called = sources.filter(({ source }) => !('everySeconds' in source));
    template.resourceCountIs('AWS::Lambda::EventSourceMapping', called.length);
    template.resourceCountIs('AWS::Events::Rule', 1);
  });
});

describe('the stream', () => {
  for (const { id, source } of sources)
    if ('stream' in source) {
      it(`calls ${id} for ${source.kinds.join(', ')}, new, changed or gone`, () => {
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

      it(`gives up what ${id} cannot take by its age of 20 h, not by a count`, () => {
        mappingOf(id, {
          MaximumRetryAttempts: -1,
          MaximumRecordAgeInSeconds: 72_000,
          BisectBatchOnFunctionError: true,
        });
      });
    }
});

describe('the clock', () => {
  const clocks = sources.flatMap(({ id, source }) => ('everySeconds' in source ? [{ id, ...source }] : []));
  const rules = Object.values(resources<RuleProperties>('AWS::Events::Rule')).map(({ Properties }) => Properties);
  const [rule] = rules;
  const jobOf = ({ Input = '{}' }: RuleProperties['Targets'][number]) => JSON.parse(Input).detail?.job;

  it('calls the sweeper once for each kind and for the heartbeat, by one rule that stops all of them or none', () => {
    expect(clocks.map(({ id, job }) => `${id} ${job}`).sort()).toEqual(
      ['deliveries', 'executions', 'heartbeat', 'purges'].map((job) => `SweepOverdue ${job}`),
    );
    expect(rules.flatMap(({ Targets }) => Targets.map(jobOf)).sort()).toEqual(clocks.map(({ job }) => job).sort());
    expect(rule?.Targets.length).toBeLessThanOrEqual(5);
  });

  it.each(clocks)('calls $id each minute for $job, and not again where a call fails', ({ id, job }) => {
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
      it(`send ${source.queue} to ${id}, which answers for each message`, () => {
        mappingOf(id, {
          EventSourceArn: { 'Fn::GetAtt': [queueOf(source.queue), 'Arn'] },
          BatchSize: polling[source.queue].batchSize,
          ScalingConfig: { MaximumConcurrency: polling[source.queue].concurrency },
        });
        expect(allowedTo(id, 'sqs')).toEqual(
          expect.arrayContaining(actionsOn(queueOf(source.queue), ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])),
        );
      });

      it(`hide a message of ${source.queue} for longer than ${id} can work on it`, () => {
        const hidden = resources<Queue>('AWS::SQS::Queue')[queueOf(source.queue)]?.Properties.VisibilityTimeout;
        expect(hidden).toBe(queues[source.queue].visibilitySeconds);
        expect(hidden).toBeGreaterThan(timeoutSeconds);
      });

      it(`give a message of ${source.queue} that fails five times to the dead letters, which keep it for longer`, () => {
        const queue = resources<Queue>('AWS::SQS::Queue')[queueOf(source.queue)]?.Properties;
        expect(queue?.RedrivePolicy).toEqual({
          maxReceiveCount: 5,
          deadLetterTargetArn: { 'Fn::GetAtt': [queueOf('deadLetters'), 'Arn'] },
        });
        // What SQS keeps a message for unless it is told. A dead letter's time runs from when it was first sent.
        expect(queue?.MessageRetentionPeriod ?? 4 * day).toBeLessThan(14 * day);
      });
    }

  it('call as often at the same time as the settings say, and by default as the quota allows', () => {
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

  it('let one slow webhook take half of the calls of slow deliveries', () => {
    const variables = functionOf('DeliverWebhook').Environment.Variables;
    expect(variables[environment.slowAttempts]).toBe(String(polling.slowDeliveries.concurrency / 2));
    for (const { id } of rows.filter((row) => row.id !== 'DeliverWebhook'))
      expect(functionOf(id).Environment.Variables).not.toHaveProperty(environment.slowAttempts);
  });

  it('are encrypted, and closed to what is not', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true });
    template.resourceCountIs('AWS::SQS::QueuePolicy', Object.keys(resources('AWS::SQS::Queue')).length);
  });

  it.each([
    ['PublishEvents', ['deliveries', 'executions', 'purges', 'deadLetters']],
    ['DeliverWebhook', ['deliveries', 'slowDeliveries', 'firstRetry', 'secondRetry', 'thirdRetry']],
    ['SweepOverdue', ['deliveries', 'executions', 'purges', 'firstRetry', 'secondRetry', 'thirdRetry']],
  ] as const)('take messages from %s, which knows where they are: %j, and no others', (id, names) => {
    const sends = allowedTo(id, 'sqs').filter((action) => action.startsWith('sqs:SendMessage'));
    expect(sends.sort()).toEqual(names.flatMap((name) => actionsOn(queueOf(name), ['sqs:SendMessage'])).sort());
    const known = Object.fromEntries(names.map((name) => [queues[name].urlVariable, { Ref: queueOf(name) }]));
    expect(functionOf(id).Environment.Variables).toMatchObject(known);
  });

  it('keep dead letters of all of them in one for 14 days, for nobody is called for them', () => {
    const dead = resources<Queue>('AWS::SQS::Queue')[queueOf('deadLetters')]?.Properties;
    expect(dead).toMatchObject({ MessageRetentionPeriod: 14 * day });
    expect(dead).not.toHaveProperty('RedrivePolicy');
    expect(Object.keys(resources('AWS::SQS::Queue'))).toHaveLength(Object.keys(queues).length);
    expect(sources.filter(({ source }) => 'queue' in source && String(source.queue) === 'deadLetters')).toEqual([]);
  });

  it('may be fed by the very function that they call only for retries and throttled executions', () => {
    for (const { id } of rows)
      expect(functionOf(id).RecursiveLoop).toBe(/DeliverWebhook|RunExecution/.test(id) ? 'Allow' : 'Terminate');
    expect(fed('DeliverWebhook')).toContain('thirdRetry');
    expect(fed('RunExecution')).toEqual(['executions']);
  });
});

describe('an emulator', () => {
  it.each(['sqs:SendMessageBatch', 'bedrock:Converse'])('alone is given %s, which AWS does not know', (right) => {
    const rights = (settings: Record<string, unknown>) => JSON.stringify([...synthesized(settings).statementsByRole]);
    expect(rights({ emulator: true })).toContain(`"${right}"`);
    expect(rights({})).not.toContain(right);
  });
});

describe('the clock', () => {
  for (const { id, source } of sources)
    if ('everySeconds' in source) {
      it(`calls ${id} every ${source.everySeconds} s`, () => {
        template.hasResourceProperties('AWS::Events::Rule', {
          ScheduleExpression: 'rate(1 minute)',
          Targets: Match.arrayWith([Match.objectLike({ Arn: { 'Fn::GetAtt': [logicalId(id), 'Arn'] } })]),
        });
      });

      it(`has ${id} look up what is due, which no other function may`, () => {
        const onIndex = (other: string) =>
          allowedTo(other, 'dynamodb').filter((action) => action.includes('/index/due'));
        expect(onIndex(id)).toHaveLength(1);
        for (const other of rows.filter((row) => row.id !== id)) expect(onIndex(other.id)).toEqual([]);
      });
    }
});
