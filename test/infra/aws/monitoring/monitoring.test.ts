import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import { routes } from '../../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../../lib/deployment/consumers.ts';
import { metricUnits } from '../../../../lib/deployment/metrics.ts';
import { accessLine } from '../../../costs/log-lines.ts';
import { assumptions } from '../../../costs/model.ts';
import { resourcesAtRest } from '../../../costs/workflows.ts';
import { synthesized } from '../synthesized.ts';

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

const { template, resources, functionOf } = synthesized();
const alarms = Object.values(resources<AlarmProperties>('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);

const alarmOf = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `Crewboard ${name}`);

type FilterProperties = {
  LogGroupName: unknown;
  FilterPattern: string;
  MetricTransformations: { MetricName: string; MetricNamespace: string; MetricValue: string }[];
};

/** Returns the metric filters that count log lines in a metric. */
const filtersOf = (metric: string) =>
  Object.values(resources<FilterProperties>('AWS::Logs::MetricFilter'))
    .map(({ Properties }) => Properties)
    .filter(({ MetricTransformations: [to] }) => to?.MetricName === metric && to.MetricValue === '1');

/** The dead-letter queues. */
const deadLetterQueues = new Set(
  Object.values(resources<QueueProperties>('AWS::SQS::Queue')).flatMap(
    ({ Properties }) => Properties.RedrivePolicy?.deadLetterTargetArn['Fn::GetAtt'][0] ?? [],
  ),
);

const names = [
  'api-errors',
  'api-latency',
  'refused-requests',
  'late-work',
  'failing-calls',
  'dead-letters',
  'lost-work',
  'delivery-success',
  'model-throttling',
];

describe('the alarms', () => {
  it('exist for each kind of fault', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual(names.map((name) => `Crewboard ${name}`).sort());
  });

  it.each(alarms)('$AlarmName says who is affected, and names its section in the runbook', (alarm) => {
    const { AlarmName, AlarmDescription } = alarm;
    expect(AlarmDescription).toMatch(/^(Callers|Receivers|Users|Organizations|Everybody|Perhaps everybody)/);
    expect(AlarmDescription).toContain(`docs/runbook.md#${AlarmName.replace('Crewboard ', '')}`);
  });

  it.each(names.filter((name) => name !== 'late-work'))('%s is not raised by missing data', (name) => {
    expect(alarmOf(name)?.TreatMissingData).toBe('notBreaching');
  });

  it.each([
    [
      'late-work',
      {
        ...{ MetricName: 'WorkLate', Statistic: 'Maximum', ComparisonOperator: 'GreaterThanThreshold' },
        ...{ TreatMissingData: 'breaching', Period: 300 },
      },
      0,
      2,
    ],
    // The next call repairs a single failure.
    ['failing-calls', { ComparisonOperator: 'GreaterThanThreshold' }, 0, 3],
    [
      'delivery-success',
      { MetricName: 'AttemptsDelivered', Statistic: 'Average', ComparisonOperator: 'LessThanThreshold' },
      0.5,
      3,
    ],
  ])('%s is raised by %j with the threshold %d in %i of three periods', (name, properties, Threshold, periods) => {
    expect(alarmOf(name)).toMatchObject({
      ...properties,
      Threshold,
      DatapointsToAlarm: periods,
      EvaluationPeriods: 3,
    });
  });

  it('of late work need a heartbeat in each period', () => {
    const heartbeat = consumers.sweepOverdue.sources.find(({ job }) => job === 'heartbeat');
    expect(heartbeat?.everySeconds).toBeLessThanOrEqual(60);
  });

  it('use no age of messages, which starts at sending and includes messages in processing', () => {
    expect(JSON.stringify(alarms)).not.toContain('ApproximateAgeOfOldestMessage');
  });

  it('count failed calls of every function of the pipeline by Lambda’s reports in their logs', () => {
    const filters = filtersOf('CrewboardCallsFailed');
    expect(filters.map(({ LogGroupName }) => LogGroupName)).toEqual(
      Object.keys(consumers).map((name) => functionOf(constructIdOf(name)).LoggingConfig.LogGroup),
    );
    for (const { FilterPattern } of filters)
      expect(FilterPattern).toBe('{ ($.type = "platform.report") && ($.record.status != "success") }');
  });

  it('add the throttled calls of the account, and treat missing data as 0', () => {
    const [formula, ...parts] = alarmOf('failing-calls')?.Metrics ?? [];
    expect(formula).toMatchObject({ Expression: 'FILL(failed, 0) + FILL(throttles, 0)' });
    expect(parts.map(({ Id, MetricStat }) => ({ Id, Stat: MetricStat?.Stat, ...MetricStat?.Metric }))).toEqual([
      { Id: 'failed', Stat: 'Sum', MetricName: 'CrewboardCallsFailed', Namespace: 'Crewboard' },
      { Id: 'throttles', Stat: 'Sum', MetricName: 'Throttles', Namespace: 'AWS/Lambda' },
    ]);
  });

  it('count requests with the status 401 or 429 in the log of the API', () => {
    const [filter, ...others] = filtersOf('CrewboardRequestsRefused');
    expect(others).toEqual([]);
    expect(filter?.FilterPattern).toBe('{ ($.status = "401") || ($.status = "429") }');
    expect(alarmOf('refused-requests')).toMatchObject({
      MetricName: 'CrewboardRequestsRefused',
      Namespace: 'Crewboard',
      Statistic: 'Sum',
      Threshold: 100,
    });
  });

  it('count every message in the dead-letter queue', () => {
    const [dead, ...others] = [...deadLetterQueues];
    expect(others).toEqual([]);
    expect(alarmOf('dead-letters')).toMatchObject({
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [dead, 'QueueName'] } }],
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
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
      { errors: 1, requests: 99, raises: false },
      { errors: 2, requests: 2, raises: true },
      { errors: 10, requests: 1_000, raises: false },
      { errors: 11, requests: 1_000, raises: true },
    ])('is raised at $errors errors of $requests requests: $raises', ({ errors, requests, raises }) => {
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

  it('name custom metrics as the functions do, with the stack as dimension', () => {
    const own = alarms.filter(({ Namespace, Dimensions }) => Namespace === 'Crewboard' && Dimensions);
    expect(own.map(({ MetricName }) => MetricName).sort()).toEqual([
      'AttemptsDelivered',
      'ModelThrottles',
      'WorkLate',
      'WorkLost',
    ]);
    for (const { MetricName, Dimensions } of own) {
      expect(Object.keys(metricUnits)).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'Crewboard' }]);
    }
    template.allResourcesProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ POWERTOOLS_SERVICE_NAME: 'Crewboard' }) },
    });
  });
});

describe('the costs', () => {
  it('are computed for the metrics of the alarms', () => {
    const looked = alarms.flatMap(({ Metrics }) => Metrics?.filter(({ Expression }) => !Expression) ?? [undefined]);
    expect(looked).toHaveLength(resourcesAtRest.alarmMetrics);
  });

  it('are computed for the memory of the functions, and for one key', () => {
    const others = assumptions.memoryMegabytes.value;
    for (const [operation] of routes) expect(functionOf(constructIdOf(operation)).MemorySize).toBe(others);
    for (const [name, { memoryMegabytes = others }] of Object.entries<Consumer>(consumers))
      expect(functionOf(constructIdOf(name)).MemorySize).toBe(memoryMegabytes);
    template.resourceCountIs('AWS::KMS::Key', resourcesAtRest.keys);
  });

  it('are computed for queues that are polled without provisioned pollers, each with a maximum concurrency', () => {
    const mappings = Object.values(resources<MappingProperties>('AWS::Lambda::EventSourceMapping'));
    const polling = mappings.filter(({ Properties }) => Properties.StartingPosition === undefined);
    expect(polling).toHaveLength(resourcesAtRest.polledQueues);
    for (const { Properties } of polling) {
      expect(Properties.ScalingConfig?.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      expect(Properties.ProvisionedPollerConfig).toBeUndefined();
    }
  });

  it('are computed for the line format of the log of the API', () => {
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
