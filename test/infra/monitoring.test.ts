import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../infra/aws/service-function.ts';
import { type Consumer, consumers } from '../../lib/contract/consumers.ts';
import { fileNameOf, routes } from '../../lib/contract/endpoints.ts';
import { type MetricName, metricUnits } from '../../lib/contract/metrics.ts';
import { accessLine } from '../costs/log-lines.ts';
import { assumptions } from '../costs/model.ts';
import { standing } from '../costs/stories.ts';
import { stackOf, synthesized } from './synthesized.ts';

type MetricStat = { Stat: string; Metric: { MetricName: string; Namespace: string; Dimensions: unknown[] } };
type Query = { Expression?: string; Id: string; MetricStat?: MetricStat };
type AlarmProperties = {
  AlarmName: string;
  AlarmDescription: string;
  MetricName?: string;
  Namespace?: string;
  Statistic?: string;
  Threshold: number;
  EvaluationPeriods: number;
  DatapointsToAlarm: number;
  ComparisonOperator: string;
  Dimensions?: { Name: string; Value: unknown }[];
  Metrics?: Query[];
  TreatMissingData: string;
};

type MappingProperties = {
  StartingPosition?: string;
  ScalingConfig?: { MaximumConcurrency: number };
  ProvisionedPollerConfig?: object;
};
type QueueProperties = { RedrivePolicy?: { deadLetterTargetArn: { 'Fn::GetAtt': [string, 'Arn'] } } };
type StageProperties = { AccessLogSettings: { Format: string } };

const { template, resources, logicalId, functionOf } = synthesized();
const alarms = Object.values(resources<AlarmProperties>('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);

const alarmOf = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `Crewboard ${name}`);

/** The queues that others give up to. */
const givenUpTo = new Set(
  Object.values(resources<QueueProperties>('AWS::SQS::Queue')).flatMap(
    ({ Properties }) => Properties.RedrivePolicy?.deadLetterTargetArn['Fn::GetAtt'][0] ?? [],
  ),
);

const names = [
  'api-errors',
  'api-latency',
  'throttled-requests',
  'heartbeat',
  'stream-age',
  'late-deliveries',
  'late-slow-deliveries',
  'late-executions',
  ...Object.keys(consumers).map((name) => `${fileNameOf(name)}-fails`),
  'dead-letters',
  'lost-executions',
  'delivery-success',
  'model-throttling',
  'unauthorized-burst',
];

/** Those whose metric is written each minute: there silence is a fault. */
const always = ['heartbeat', 'late-deliveries', 'late-executions'];

describe('the alarms', () => {
  it('are one for each thing that hurts somebody', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual(names.map((name) => `Crewboard ${name}`).sort());
  });

  it.each(alarms)('$AlarmName says whom it hurts, and where it is told what to do', (alarm) => {
    const { AlarmName, AlarmDescription } = alarm;
    expect(AlarmDescription).toMatch(/^(Callers|Receivers|Users|Organizations|Everybody|Perhaps everybody)/);
    expect(AlarmDescription).toContain(`docs/runbook.md#${AlarmName.replace('Crewboard ', '')}`);
  });

  it.each(names.filter((name) => !always.includes(name)))('%s is quiet where there is nothing to count', (name) => {
    expect(alarmOf(name)?.TreatMissingData).toBe('notBreaching');
  });

  it.each(always)('%s is raised where nothing arrives, in two of three periods', (name) => {
    expect(alarmOf(name)).toMatchObject({
      TreatMissingData: 'breaching',
      Statistic: 'Maximum',
      ComparisonOperator: 'GreaterThanThreshold',
      DatapointsToAlarm: 2,
      EvaluationPeriods: 3,
      Period: 300,
    });
  });

  it('have a schedule that writes each of these metrics at least once a minute', () => {
    const calls = consumers.sweepOverdue.sources.filter(({ everySeconds }) => everySeconds <= 60);
    expect(calls.map(({ job }) => job)).toEqual(expect.arrayContaining(['heartbeat', 'deliveries', 'executions']));
  });

  it.each([
    ['late-deliveries', 'DeliveriesLate', 300],
    ['late-slow-deliveries', 'SlowDeliveriesLate', 1_800],
    ['late-executions', 'ExecutionsLate', 300],
    ['heartbeat', 'HeartbeatAge', 300],
  ])('%s looks at the longest of %s, over %d s', (name, metric, seconds) => {
    expect(alarmOf(name)).toMatchObject({ MetricName: metric, Statistic: 'Maximum', Threshold: seconds });
    expect(metricUnits[metric as MetricName]).toBe('Seconds');
  });

  it('look at no age of a queue, which counts from sending, and counts messages that a worker has', () => {
    expect(JSON.stringify(alarms)).not.toContain('ApproximateAgeOfOldestMessage');
  });

  describe.each(Object.keys(consumers))('of the function %s', (consumer) => {
    const alarm = alarmOf(`${fileNameOf(consumer)}-fails`);
    const [{ Expression: formula = '' } = {}, ...metrics] = alarm?.Metrics ?? [];

    it('count its errors and its throttles', () => {
      const FunctionName = { Ref: logicalId(constructIdOf(consumer)) };
      const Dimensions = [{ Name: 'FunctionName', Value: FunctionName }];
      expect(metrics.map(({ Id, MetricStat }) => [Id, MetricStat?.Stat, MetricStat?.Metric]).sort()).toEqual([
        ['errors', 'Sum', { Namespace: 'AWS/Lambda', MetricName: 'Errors', Dimensions }],
        ['throttles', 'Sum', { Namespace: 'AWS/Lambda', MetricName: 'Throttles', Dimensions }],
      ]);
    });

    it.each([
      { errors: 0, throttles: 0, raises: false },
      { errors: 1, throttles: 0, raises: true },
      // A function that is only throttled has no errors, which are missing then.
      { errors: undefined, throttles: 1, raises: true },
      { errors: undefined, throttles: undefined, raises: false },
    ])('are raised at $errors errors and $throttles throttles: $raises', ({ errors, throttles, raises }) => {
      const FILL = (value: number | undefined, missing: number) => value ?? missing;
      const count = new Function('errors', 'throttles', 'FILL', `return ${formula}`)(errors, throttles, FILL);
      expect(count > (alarm?.Threshold ?? 0)).toBe(raises);
    });

    it('need a failure in each of three periods, for a single one is made good by another call', () => {
      expect(alarm).toMatchObject({ DatapointsToAlarm: 3, EvaluationPeriods: 3 });
    });
  });

  it('count every dead letter in the one queue of them', () => {
    const [dead, ...others] = [...givenUpTo];
    expect(others).toEqual([]);
    expect(alarmOf('dead-letters')).toMatchObject({
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [dead, 'QueueName'] } }],
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
    });
  });

  it('look at the average of what each attempt counts in delivery-success', () => {
    expect(alarmOf('delivery-success')).toMatchObject({
      MetricName: 'AttemptsDelivered',
      Statistic: 'Average',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 0.5,
      DatapointsToAlarm: 3,
      EvaluationPeriods: 3,
    });
  });

  describe('of api-errors', () => {
    const alarm = alarmOf('api-errors');
    const [{ Expression: formula = '' } = {}, ...metrics] = alarm?.Metrics ?? [];
    const metricOf = (id: string) => metrics.find(({ Id }) => Id === id)?.MetricStat;

    it('divides the sum of 5xx by the sum of all requests of the API', () => {
      expect(metrics).toHaveLength(2);
      expect(metricOf('errors')).toMatchObject({
        Stat: 'Sum',
        Metric: { MetricName: '5xx', Namespace: 'AWS/ApiGateway' },
      });
      expect(metricOf('requests')).toMatchObject({ Stat: 'Sum', Metric: { MetricName: 'Count' } });
      expect(metricOf('requests')?.Metric.Dimensions).toEqual(metricOf('errors')?.Metric.Dimensions);
    });

    it.each([
      { errors: 0, requests: 0, raises: false },
      { errors: 1, requests: 1, raises: false },
      { errors: 1, requests: 99, raises: false },
      { errors: 2, requests: 2, raises: true },
      { errors: 2, requests: 150, raises: true },
      { errors: 10, requests: 1_000, raises: false },
      { errors: 11, requests: 1_000, raises: true },
    ])('raises at $errors errors of $requests requests: $raises', ({ errors, requests, raises }) => {
      const IF = (holds: boolean, yes: number, no: number) => (holds ? yes : no);
      const share = new Function('errors', 'requests', 'IF', `return ${formula}`)(errors, requests, IF);
      expect(share > (alarm?.Threshold ?? 0)).toBe(raises);
    });

    it('needs two of three periods', () => {
      expect(alarm).toMatchObject({
        DatapointsToAlarm: 2,
        EvaluationPeriods: 3,
        ComparisonOperator: 'GreaterThanThreshold',
      });
    });
  });

  it('name our own metrics as the functions do, with the stack that they are of', () => {
    const own = alarms.filter(({ Namespace, Dimensions }) => Namespace === 'Crewboard' && Dimensions);
    expect(own.map(({ MetricName }) => MetricName).sort()).toEqual([
      'AttemptsDelivered',
      'DeliveriesLate',
      'ExecutionsLate',
      'ExecutionsLost',
      'HeartbeatAge',
      'ModelThrottles',
      'SlowDeliveriesLate',
    ]);
    for (const { MetricName, Dimensions } of own) {
      expect(Object.keys(metricUnits)).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'Crewboard' }]);
    }
    template.allResourcesProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ POWERTOOLS_SERVICE_NAME: 'Crewboard' }) },
    });
  });

  it('are left out for an emulator where they count by a formula, which it refuses', () => {
    const emulated = Template.fromStack(stackOf(undefined, { emulator: true }));
    const left = Object.values(emulated.findResources('AWS::CloudWatch::Alarm')) as { Properties: AlarmProperties }[];
    expect(left.every(({ Properties }) => Properties.Metrics === undefined)).toBe(true);
    expect(left).toHaveLength(alarms.filter(({ Metrics }) => Metrics === undefined).length);
  });
});

describe('the costs', () => {
  it('are computed for the metrics that alarms look at', () => {
    const looked = alarms.flatMap(({ Metrics }) => Metrics?.filter(({ Expression }) => !Expression) ?? [undefined]);
    expect(looked).toHaveLength(standing.alarmMetrics);
  });

  it('are computed for the memory of the functions, and for one key', () => {
    const others = assumptions.memoryMegabytes.value;
    for (const [operation] of routes) expect(functionOf(constructIdOf(operation)).MemorySize).toBe(others);
    for (const [name, { memoryMegabytes = others }] of Object.entries<Consumer>(consumers))
      expect(functionOf(constructIdOf(name)).MemorySize).toBe(memoryMegabytes);
    template.resourceCountIs('AWS::KMS::Key', standing.keys);
  });

  it('are computed for queues that are polled without provisioned pollers, each with a maximum concurrency', () => {
    const mappings = Object.values(resources<MappingProperties>('AWS::Lambda::EventSourceMapping'));
    const polling = mappings.filter(({ Properties }) => Properties.StartingPosition === undefined);
    expect(polling).toHaveLength(standing.polledQueues);
    for (const { Properties } of polling) {
      expect(Properties.ScalingConfig?.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      expect(Properties.ProvisionedPollerConfig).toBeUndefined();
    }
  });

  it('are computed for the lines that the log of the API has', () => {
    const [stage] = Object.values(resources<StageProperties>('AWS::ApiGatewayV2::Stage'));
    const format = JSON.parse(stage?.Properties.AccessLogSettings.Format ?? '{}');
    expect(Object.keys(accessLine)).toEqual(Object.keys(format));
  });
});

describe('the dashboard', () => {
  it('shows a graph for each alarm', () => {
    template.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
    const [dashboard] = Object.values(resources<{ DashboardBody: unknown }>('AWS::CloudWatch::Dashboard'));
    const body = JSON.stringify(dashboard?.Properties.DashboardBody);
    for (const name of names) expect(body).toContain(name);
    expect(body.match(/showUnits\\":false/g)).toHaveLength(names.length);
  });
});

describe('the log of the API', () => {
  it.each([
    ['401', 'CrewboardUnauthorized', 'unauthorized-burst'],
    ['429', 'CrewboardThrottled', 'throttled-requests'],
  ])('is where requests that were answered %s are counted, as %s, for %s', (status, metric, alarm) => {
    template.hasResourceProperties('AWS::Logs::MetricFilter', {
      FilterPattern: `{ $.status = "${status}" }`,
      MetricTransformations: [Match.objectLike({ MetricName: metric, MetricNamespace: 'Crewboard', MetricValue: '1' })],
    });
    expect(alarmOf(alarm)).toMatchObject({ MetricName: metric, Namespace: 'Crewboard', Statistic: 'Sum' });
  });
});
