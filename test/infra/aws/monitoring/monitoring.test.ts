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
type AlarmProperties = {
  AlarmName: string;
  AlarmDescription: string;
  MetricName?: string;
  Namespace?: string;
  Threshold: number;
  Dimensions?: { Name: string; Value: unknown }[];
  Metrics?: { Expression?: string; Id: string; MetricStat?: MetricStat }[];
};
type FilterProperties = {
  LogGroupName: unknown;
  FilterPattern: string;
  MetricTransformations: { MetricName: string; MetricValue: string }[];
};
type MappingProperties = {
  StartingPosition?: string;
  ScalingConfig?: { MaximumConcurrency: number };
  ProvisionedPollerConfig?: object;
};

const { template, resources, functionOf, queueOf } = synthesized();
const propertiesOf = <Properties>(type: string) =>
  Object.values(resources<Properties>(type)).map(({ Properties }) => Properties);
const alarms = propertiesOf<AlarmProperties>('AWS::CloudWatch::Alarm');
const alarmOf = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `Crewboard ${name}`);

/** Returns the metric filters that count log lines in a metric. */
const filtersOf = (metric: string) =>
  propertiesOf<FilterProperties>('AWS::Logs::MetricFilter').filter(
    ({ MetricTransformations: [to] }) => to?.MetricName === metric && to.MetricValue === '1',
  );

const above = { ComparisonOperator: 'GreaterThanThreshold' };
const twoOfThree = { DatapointsToAlarm: 2, EvaluationPeriods: 3 };
const threeOfThree = { DatapointsToAlarm: 3, EvaluationPeriods: 3 };
const missingIsGood = { TreatMissingData: 'notBreaching' };

/** The alarms, each with its properties that users notice. */
const expected: Record<string, object> = {
  'api-errors': { ...above, ...twoOfThree, ...missingIsGood },
  'api-latency': missingIsGood,
  'refused-requests': {
    ...{ MetricName: 'CrewboardRequestsRefused', Namespace: 'Crewboard', Statistic: 'Sum', Threshold: 100 },
    ...missingIsGood,
  },
  'late-work': {
    ...{ MetricName: 'WorkLate', Statistic: 'Maximum', Threshold: 0, Period: 300, TreatMissingData: 'breaching' },
    ...above,
    ...twoOfThree,
  },
  // The next call repairs a single failure.
  'failing-calls': { Threshold: 0, ...above, ...threeOfThree, ...missingIsGood },
  'dead-letters': {
    ...{ MetricName: 'ApproximateNumberOfMessagesVisible', Threshold: 0, ...above, ...missingIsGood },
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queueOf('deadLetters'), 'QueueName'] } }],
  },
  'lost-work': missingIsGood,
  'delivery-success': {
    ...{ MetricName: 'AttemptsDelivered', Statistic: 'Average', Threshold: 0.5 },
    ...{ ComparisonOperator: 'LessThanThreshold', ...threeOfThree, ...missingIsGood },
  },
  'model-throttling': missingIsGood,
};
const names = Object.keys(expected);

describe('the alarms', () => {
  it('exist for each kind of fault', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual(names.map((name) => `Crewboard ${name}`).sort());
  });

  it.each(names)(
    'of %s are raised by their metric, say who is affected and name their section in the runbook',
    (name) => {
      const { AlarmDescription = '' } = alarmOf(name) ?? {};
      expect(alarmOf(name)).toMatchObject(expected[name] as object);
      expect(AlarmDescription).toMatch(/^(Callers|Receivers|Users|Organizations|Everybody|Perhaps everybody)/);
      expect(AlarmDescription).toContain(`docs/runbook.md#${name}`);
    },
  );

  it('of late work need a heartbeat in each period', () => {
    const heartbeat = consumers.sweepOverdue.sources.find(({ job }) => job === 'heartbeat');
    expect(heartbeat?.everySeconds).toBeLessThanOrEqual(60);
  });

  it('use no age of messages, which starts at sending and includes messages in processing', () => {
    expect(JSON.stringify(alarms)).not.toContain('ApproximateAgeOfOldestMessage');
  });

  it('count failed calls of every function of the pipeline by Lambda’s reports in their logs', () => {
    const FilterPattern = '{ ($.type = "platform.report") && ($.record.status != "success") }';
    const groups = Object.keys(consumers).map((name) => functionOf(constructIdOf(name)).LoggingConfig.LogGroup);
    expect(filtersOf('CrewboardCallsFailed')).toMatchObject(
      groups.map((LogGroupName) => ({ LogGroupName, FilterPattern })),
    );
  });

  it('add the throttled calls of the account, and treat missing data as 0', () => {
    expect(alarmOf('failing-calls')?.Metrics).toMatchObject([
      { Expression: 'FILL(failed, 0) + FILL(throttles, 0)' },
      {
        Id: 'failed',
        MetricStat: { Stat: 'Sum', Metric: { MetricName: 'CrewboardCallsFailed', Namespace: 'Crewboard' } },
      },
      { Id: 'throttles', MetricStat: { Stat: 'Sum', Metric: { MetricName: 'Throttles', Namespace: 'AWS/Lambda' } } },
    ]);
  });

  it('count requests with the status 401 or 429 in the log of the API', () => {
    const patterns = filtersOf('CrewboardRequestsRefused').map(({ FilterPattern }) => FilterPattern);
    expect(patterns).toEqual(['{ ($.status = "401") || ($.status = "429") }']);
  });

  it.each([
    { errors: 0, requests: 0, raises: false },
    { errors: 1, requests: 99, raises: false },
    { errors: 2, requests: 2, raises: true },
    { errors: 10, requests: 1_000, raises: false },
    { errors: 11, requests: 1_000, raises: true },
  ])('of api-errors are raised at $errors errors of $requests requests: $raises', ({ errors, requests, raises }) => {
    const { Metrics: [formula, ...metrics] = [], Threshold = 0 } = alarmOf('api-errors') ?? {};
    const sumOf = (Id: string, MetricName: string) => ({
      ...{ Id, MetricStat: { Stat: 'Sum', Metric: { MetricName, Namespace: 'AWS/ApiGateway' } } },
    });
    expect(metrics).toMatchObject([sumOf('errors', '5xx'), sumOf('requests', 'Count')]);
    expect(new Set(metrics.map(({ MetricStat }) => JSON.stringify(MetricStat?.Metric.Dimensions))).size).toBe(1);
    const IF = (holds: boolean, yes: number, no: number) => (holds ? yes : no);
    const evaluate = new Function('errors', 'requests', 'IF', `return ${formula?.Expression}`);
    expect(evaluate(errors, requests, IF) > Threshold).toBe(raises);
  });

  it('name custom metrics as the functions do, with the stack as dimension', () => {
    const own = alarms.filter(({ Namespace, Dimensions }) => Namespace === 'Crewboard' && Dimensions);
    const metrics = own.map(({ MetricName }) => MetricName);
    expect(metrics.sort()).toEqual(['AttemptsDelivered', 'ModelThrottles', 'WorkLate', 'WorkLost']);
    expect(Object.keys(metricUnits)).toEqual(expect.arrayContaining(metrics));
    for (const { Dimensions } of own) expect(Dimensions).toEqual([{ Name: 'service', Value: 'Crewboard' }]);
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
    const rows = [...routes.map(([name]) => [name, {}] as const), ...Object.entries<Consumer>(consumers)];
    for (const [name, { memoryMegabytes = others }] of rows as [string, Partial<Consumer>][])
      expect(functionOf(constructIdOf(name)).MemorySize).toBe(memoryMegabytes);
    template.resourceCountIs('AWS::KMS::Key', resourcesAtRest.keys);
  });

  it('are computed for queues that are polled without provisioned pollers, each with a maximum concurrency', () => {
    const mappings = propertiesOf<MappingProperties>('AWS::Lambda::EventSourceMapping');
    const polling = mappings.filter(({ StartingPosition }) => StartingPosition === undefined);
    expect(polling).toHaveLength(resourcesAtRest.polledQueues);
    for (const { ScalingConfig, ProvisionedPollerConfig } of polling) {
      expect(ScalingConfig?.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      expect(ProvisionedPollerConfig).toBeUndefined();
    }
  });

  it('are computed for the line format of the log of the API', () => {
    const [stage] = propertiesOf<{ AccessLogSettings: { Format: string } }>('AWS::ApiGatewayV2::Stage');
    expect(Object.keys(accessLine)).toEqual(Object.keys(JSON.parse(stage?.AccessLogSettings.Format ?? '{}')));
  });
});

it('the dashboard shows a graph for each alarm', () => {
  const [dashboard, ...others] = propertiesOf<{ DashboardBody: unknown }>('AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(dashboard?.DashboardBody);
  expect(others).toEqual([]);
  for (const name of names) expect(body).toContain(name);
  expect(body.match(/showUnits\\":false/g)).toHaveLength(names.length);
});
