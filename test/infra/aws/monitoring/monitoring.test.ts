import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { functionVariables } from '../../../../infra/aws/functions/function-variables.ts';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import { functionNameOf, routes } from '../../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../../lib/names/consumers.ts';
import { metricUnits } from '../../../../lib/names/metrics.ts';
import { accessLine } from '../../../costs/log-lines.ts';
import { assumptions } from '../../../costs/model.ts';
import { resourcesAtRest } from '../../../costs/workflows.ts';
import { synthesized } from '../synthesized.ts';

const { template, propertiesOf, functionOf, queueOf } = synthesized();
const alarms = propertiesOf('AWS::CloudWatch::Alarm');
const alarmOf = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `Crewboard ${name}`);

/** Returns the metric filters that write the value of log lines to a metric; 1 counts them. */
const filtersOf = (metric: string, value = '1') =>
  propertiesOf('AWS::Logs::MetricFilter').filter(
    ({ MetricTransformations: [to] }) => to?.MetricName === metric && to.MetricValue === value,
  );

const sumOf = (Namespace: string, MetricName: string) => ({ Stat: 'Sum', Metric: { MetricName, Namespace } });
const above = { ComparisonOperator: 'GreaterThanThreshold' };
const twoOfThree = { DatapointsToAlarm: 2, EvaluationPeriods: 3 };
const threeOfThree = { DatapointsToAlarm: 3, EvaluationPeriods: 3 };
const missingIsGood = { TreatMissingData: 'notBreaching' };

/** The alarms, each with its properties that users notice. */
const expected: Record<string, object> = {
  'api-errors': { ...above, ...twoOfThree, ...missingIsGood },
  'api-latency': {
    ...{ MetricName: 'CrewboardLatency', Namespace: 'Crewboard', ExtendedStatistic: 'p99', Threshold: 3_000 },
    ...{ EvaluateLowSampleCountPercentile: 'ignore', ...above, ...threeOfThree, ...missingIsGood },
  },
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
  'failing-calls': {
    ...{ Threshold: 0, ...above, ...threeOfThree, ...missingIsGood },
    Metrics: [
      { Expression: 'FILL(failed, 0) + FILL(throttles, 0)' },
      { Id: 'failed', MetricStat: sumOf('Crewboard', 'CrewboardCallsFailed') },
      { Id: 'throttles', MetricStat: sumOf('AWS/Lambda', 'Throttles') },
    ],
  },
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
  'model-tokens': {
    ...{ MetricName: 'TokensUsed', Statistic: 'Sum', Period: 3_600, Threshold: 2_000_000, ...above, ...missingIsGood },
    Dimensions: [{ Name: 'service', Value: 'Crewboard' }],
  },
};
const names = Object.keys(expected);

describe('the alarms', () => {
  it('exist for each kind of fault, without the age of messages, which includes messages in processing', () => {
    expect(JSON.stringify(alarms)).not.toContain('ApproximateAgeOfOldestMessage');
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

  it('count failed calls of every function of the pipeline by Lambda’s reports in their logs', () => {
    const FilterPattern = '{ ($.type = "platform.report") && ($.record.status != "success") }';
    const groups = Object.keys(consumers).map((name) => functionOf(constructIdOf(name)).LoggingConfig.LogGroup);
    expect(filtersOf('CrewboardCallsFailed')).toMatchObject(
      groups.map((LogGroupName) => ({ LogGroupName, FilterPattern })),
    );
  });

  it('count requests with the status 401 or 429 in the log of the API', () => {
    const patterns = filtersOf('CrewboardRequestsRefused').map(({ FilterPattern }) => FilterPattern);
    expect(patterns).toEqual(['{ ($.status = "401") || ($.status = "429") }']);
  });

  it('measure the time of routes that wait for receivers and models apart, and show it on the dashboard', () => {
    const slow = ['POST /api/agents/{name}/self-improve', 'POST /api/webhooks/{id}/test'];
    const [patterns, apart] = ['CrewboardLatency', 'CrewboardCallsOutLatency'].map((metric) =>
      filtersOf(metric, '$.latencyMs').map(({ FilterPattern }) => FilterPattern),
    );
    const [test, others] = [
      slow.map((route) => `($.route = "${route}")`),
      slow.map((route) => `($.route != "${route}")`),
    ];
    expect(apart).toEqual([`{ ${test.join(' || ')} }`]);
    expect(patterns).toEqual([`{ ${others.join(' && ')} && ($.latencyMs >= 0) }`]);
    expect(JSON.stringify(propertiesOf('AWS::CloudWatch::Dashboard'))).toContain('CrewboardCallsOutLatency');
  });

  it.each([
    { errors: 0, requests: 0, raises: false },
    { errors: 1, requests: 99, raises: false },
    { errors: 2, requests: 2, raises: true },
    { errors: 10, requests: 1_000, raises: false },
    { errors: 11, requests: 1_000, raises: true },
  ])('of api-errors are raised at $errors errors of $requests requests: $raises', ({ errors, requests, raises }) => {
    const { Metrics: [formula, ...metrics] = [], Threshold = 0 } = alarmOf('api-errors') ?? {};
    expect(metrics).toMatchObject([
      { Id: 'errors', MetricStat: sumOf('AWS/ApiGateway', '5xx') },
      { Id: 'requests', MetricStat: sumOf('AWS/ApiGateway', 'Count') },
    ]);
    expect(metrics[0].MetricStat.Metric.Dimensions).toEqual(metrics[1].MetricStat.Metric.Dimensions);
    const IF = (holds: boolean, yes: number, no: number) => (holds ? yes : no);
    const evaluate = new Function('errors', 'requests', 'IF', `return ${formula?.Expression}`);
    expect(evaluate(errors, requests, IF) > Threshold).toBe(raises);
  });

  it.each([
    ['one model', ['a.one'], { MetricName: 'TokensUsed', Threshold: 5 }],
    [
      'several models',
      ['a.one', 'b.two'],
      { Threshold: 5, Metrics: [{ Expression: 'MAX([FILL(model0, 0), FILL(model1, 0)])' }, {}, {}] },
    ],
    [
      'more models than an alarm has metrics',
      Array.from({ length: 11 }, (_, nth) => `a.model-${nth}`),
      { Dimensions: [{ Name: 'service' }] },
    ],
  ])('of tokens watch the model that used most of %s', (_, allowedModels, raised) => {
    const settings = { allowedModels, defaultModel: allowedModels[0], alarmTokensPerHour: 5 };
    const limited = synthesized(settings).propertiesOf('AWS::CloudWatch::Alarm');
    const alarm = limited.find(({ AlarmName }) => AlarmName === 'Crewboard model-tokens');
    expect(alarm).toMatchObject(raised);
    if (allowedModels.length < 11) expect(JSON.stringify(alarm)).toContain('{"Name":"model","Value":"a.one"}');
  });

  it('of tokens have a graph of each model that was called', () => {
    const [dashboard = {}] = propertiesOf('AWS::CloudWatch::Dashboard');
    const [, parts] = dashboard.DashboardBody['Fn::Join'] as [string, unknown[]];
    const { widgets } = JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'a token')).join(''));
    const { properties } = widgets.find(
      (widget: { properties: { title: string } }) => widget.properties.title === 'model-tokens',
    );
    expect(properties.metrics[1][0].expression).toBe(
      `SEARCH('{Crewboard,service,model} MetricName="TokensUsed" service="Crewboard"', 'Sum', 3600)`,
    );
  });

  it('name custom metrics as the functions do, with the stack as dimension', () => {
    const own = alarms.filter(({ Namespace, Dimensions }) => Namespace === 'Crewboard' && Dimensions);
    const metrics = own.map(({ MetricName }) => MetricName);
    expect(metrics.sort()).toEqual(['AttemptsDelivered', 'ModelThrottles', 'TokensUsed', 'WorkLate', 'WorkLost']);
    expect(Object.keys(metricUnits)).toEqual(expect.arrayContaining(metrics));
    for (const { Dimensions } of own) expect(Dimensions).toEqual([{ Name: 'service', Value: 'Crewboard' }]);
    template.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { Environment: { Variables: Match.objectLike({ POWERTOOLS_SERVICE_NAME: 'Crewboard' }) } },
      Object.values(functionVariables).filter((names) => names.includes('serviceName')).length,
    );
  });
});

describe('the costs', () => {
  it('are computed for the metrics of the alarms, the memory of the functions, and one key', () => {
    const looked = alarms.flatMap(({ Metrics = [{}] }) => Metrics).filter(({ Expression }) => !Expression);
    expect(looked).toHaveLength(resourcesAtRest.alarmMetrics);
    const others = assumptions.memoryMegabytes.value;
    const rows = [
      ...routes.map(([name, row]) => [functionNameOf(name, row), {}] as const),
      ...Object.entries<Consumer>(consumers),
    ];
    for (const [name, { memoryMegabytes = others }] of rows as [string, Partial<Consumer>][])
      expect(functionOf(constructIdOf(name)).MemorySize).toBe(memoryMegabytes);
    template.resourceCountIs('AWS::KMS::Key', resourcesAtRest.keys);
  });

  it('are computed for queues that are polled without provisioned pollers, each with a maximum concurrency', () => {
    const mappings = propertiesOf('AWS::Lambda::EventSourceMapping');
    const polling = mappings.filter(({ StartingPosition }) => StartingPosition === undefined);
    expect(polling).toHaveLength(resourcesAtRest.polledQueues);
    expect(polling.every(({ ScalingConfig }) => ScalingConfig.MaximumConcurrency >= 2)).toBe(true);
    expect(JSON.stringify(polling)).not.toContain('ProvisionedPollerConfig');
  });

  it('are computed for the line format of the log of the API', () => {
    const [stage] = propertiesOf('AWS::ApiGatewayV2::Stage');
    // The time is a number in a line, which has no quotes in the format.
    const format = stage?.AccessLogSettings.Format.replace(':$context.responseLatency,', ':42,');
    expect(Object.entries(accessLine).map(([name, value]) => [name, typeof value])).toEqual(
      Object.entries(JSON.parse(format)).map(([name, value]) => [name, typeof value]),
    );
  });
});

it('the dashboard shows a graph for each alarm', () => {
  const [dashboard, ...others] = propertiesOf('AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(dashboard?.DashboardBody);
  expect(others).toEqual([]);
  for (const name of names) expect(body).toContain(name);
  expect(body.match(/showUnits\\":false/g)).toHaveLength(names.length);
});
