import { Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Endpoint } from '../../../lib/contract/endpoint.ts';
import { routes } from '../../../lib/contract/routes.ts';
import { type MetricName, metricDimension, metricNamespace, modelDimension } from '../../../lib/names/metrics.ts';
import { type Api, routeKeyOf } from '../api/api.ts';
import type { Pipeline } from '../pipeline.ts';
import type { StackSettings } from '../settings.ts';

/** The monitored parts of a stack, and the settings that determine some thresholds. */
export type Monitored = { api: Api; pipeline: Pipeline; settings: StackSettings };

/** The definition of an alarm. */
export type AlarmDefinition = {
  /** The name, which is also the name of its section in the runbook. */
  name: string;
  /** Who is affected, and how. */
  impact: string;
  /** The label of the axis on the dashboard. The unit of the metric in CloudWatch may be another. */
  unit: string;
  metric: IMetric;
  threshold: number;
  /** Whether the alarm is raised below the threshold instead of above it. */
  below?: true;
  /** The alarm is raised if this number of `periods` of the last `of` cross the threshold. */
  during?: { periods: number; of: number };
  /** Metrics that the graph shows beside the metric of the alarm. */
  beside?: IMetric[];
  /** Whether the alarm keeps its state in a period with too few requests for its percentile. */
  ignoresFewSamples?: true;
  /** Whether a period without data counts as crossing the threshold, for a metric that is written every minute. */
  missingIsBreaching?: true;
};

const period = Duration.minutes(5);

/** Two of three periods, so that a single period without data or with a short delay raises no alarm. */
const twoOfThree = { periods: 2, of: 3 };

/**
 * Returns the alarms of a stack, one for each kind of fault. CloudWatch bills each metric of an alarm, and ten are free, so
 * functions and kinds of work share a metric. The runbook says how to find the affected one. Creates the metric filters of
 * the alarms in `scope`.
 */
export function alarmDefinitions(scope: Construct, { api, pipeline, settings }: Monitored): AlarmDefinition[] {
  const own = (metricName: MetricName, statistic: string) => ownMetric(scope, metricName, statistic);
  const { queues } = pipeline;
  return [
    {
      name: 'api-errors',
      impact: 'Callers of the API get 5xx responses: their requests fail.',
      unit: 'share of requests',
      metric: errorShare(api),
      threshold: 0.01,
      during: twoOfThree,
    },
    {
      name: 'api-latency',
      impact: 'Callers of the API wait: one of a hundred requests takes longer than 3 s.',
      unit: 'milliseconds',
      metric: latency(scope, 'Latency', api, FilterPattern.all(...callingOut.map(isNot), answeredAfterSome)),
      // Routes that call out wait for receivers and models.
      beside: [latency(scope, 'CallsOutLatency', api, FilterPattern.any(...callingOut.map(is)))],
      threshold: 3_000,
      during: { periods: 3, of: 3 },
      ignoresFewSamples: true,
    },
    {
      name: 'refused-requests',
      impact: 'Callers of the API get 429 or 401: they send too many requests, or someone tries to guess tokens.',
      unit: 'requests',
      // An HTTP API has no metric for a single status.
      metric: countedLines(scope, 'RequestsRefused', [api.accessLog], answered(401, 429)),
      threshold: Math.max(100, settings.throttleRate),
    },
    {
      name: 'late-work',
      impact:
        'Everybody is affected soon: a change, a delivery or an execution waits too long, or no heartbeat arrives to measure it.',
      unit: 'seconds longer than allowed',
      metric: own('WorkLate', Stats.MAXIMUM),
      threshold: 0,
      during: twoOfThree,
      missingIsBreaching: true,
    },
    {
      name: 'failing-calls',
      impact:
        'Receivers and users of agents wait, or data of a deleted agent or task is still stored: calls of the pipeline fail or are throttled.',
      unit: 'calls',
      metric: failures(countedLines(scope, 'CallsFailed', Object.values(pipeline.logs), callFailed)),
      threshold: 0,
      // The next call repairs a single failure.
      during: { periods: 3, of: 3 },
    },
    {
      name: 'dead-letters',
      impact: 'Receivers may miss an event, or users of agents wait: a message failed five times.',
      unit: 'dead letters',
      metric: queues.deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
      threshold: 0,
    },
    {
      name: 'lost-work',
      impact:
        'Users of agents have a failed execution, because two of its workers were lost. Or receivers wait: messages of deliveries were lost, and are sent again.',
      unit: 'executions and deliveries',
      metric: own('WorkLost', Stats.SUM),
      threshold: 0,
    },
    {
      name: 'delivery-success',
      impact:
        'Receivers get no events: most attempts fail. If several receivers are affected, the cause may be this service.',
      unit: 'share of attempts',
      // Every attempt writes 1 or 0.
      metric: own('AttemptsDelivered', Stats.AVERAGE),
      threshold: 0.5,
      below: true,
      during: { periods: 3, of: 3 },
    },
    {
      name: 'model-throttling',
      impact: 'Users of agents wait, and executions may exceed their deadline: models throttle calls.',
      unit: 'throttled calls',
      metric: own('ModelThrottles', Stats.SUM),
      threshold: 100,
      during: { periods: 3, of: 3 },
    },
    {
      name: 'model-tokens',
      impact: 'Users of agents cost more than usual: in an hour, a model used more tokens than alarmTokensPerHour.',
      unit: 'tokens in an hour',
      metric: tokensOfBusiest(scope, settings),
      beside: [tokensOfEach(scope)],
      threshold: settings.alarmTokensPerHour,
    },
  ];
}

const hour = Duration.hours(1);

/** The maximum number of metrics of an alarm. */
const mostMetrics = 10;

/** Returns the tokens of the allowed model that used most; of all models together if there is no list, or a long one. */
function tokensOfBusiest(scope: Construct, { allowedModels = [] }: StackSettings): IMetric {
  const metrics = allowedModels.map((model) => tokens(scope, { [modelDimension]: model }));
  const [only] = metrics;
  if (!only || metrics.length > mostMetrics) return tokens(scope);
  if (metrics.length === 1) return only;
  const named = Object.fromEntries(metrics.map((metric, nth) => [`model${nth}`, metric]));
  return new MathExpression({
    expression: `MAX([${Object.keys(named)
      .map((name) => `FILL(${name}, 0)`)
      .join(', ')}])`,
    usingMetrics: named,
    period: hour,
  });
}

/** Returns the tokens of each model that was called, for a graph. */
function tokensOfEach(scope: Construct): IMetric {
  const service = Stack.of(scope).stackName;
  const schema = `{${metricNamespace},${metricDimension},${modelDimension}}`;
  return new MathExpression({
    expression: `SEARCH('${schema} MetricName="TokensUsed" ${metricDimension}="${service}"', 'Sum', ${hour.toSeconds()})`,
    usingMetrics: {},
    label: '',
    period: hour,
  });
}

function tokens(scope: Construct, dimensions: Record<string, string> = {}): Metric {
  return ownMetric(scope, 'TokensUsed', Stats.SUM).with({
    period: hour,
    dimensionsMap: { [metricDimension]: Stack.of(scope).stackName, ...dimensions },
  });
}

/** The lowest number of requests by which the share of errors in a period is computed. */
const fewestRequests = 100;

/**
 * Returns the share of requests that fail with a 5xx. With few requests, one failure would be a large share.
 * `fewestRequests` keeps a single failure at the threshold but does not hide several, even if every request fails.
 */
function errorShare(api: Api): MathExpression {
  return new MathExpression({
    expression: `errors / IF(requests < ${fewestRequests}, ${fewestRequests}, requests)`,
    usingMetrics: { errors: api.metric('5xx', Stats.SUM, period), requests: api.metric('Count', Stats.SUM, period) },
    period,
  });
}

/** Returns a pattern of the lines of the access log for requests with one of these response statuses. */
function answered(...statuses: number[]): IFilterPattern {
  return FilterPattern.any(...statuses.map((status) => FilterPattern.stringValue('$.status', '=', String(status))));
}

/**
 * Returns the number of calls that failed or were throttled. Lambda writes no log line for a throttled call. The metric
 * of throttles covers all functions of the account in the region, which share its quota; the metric of each function would be
 * billed separately. A missing part counts as 0, because otherwise the sum would be missing.
 */
function failures(failed: Metric): MathExpression {
  const throttles = new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: Stats.SUM, period });
  return new MathExpression({
    expression: 'FILL(failed, 0) + FILL(throttles, 0)',
    usingMetrics: { failed, throttles },
    period,
  });
}

/**
 * A pattern of the lines that Lambda writes for a failed call, also if the code could not be loaded or ran out of time or
 * memory.
 */
const callFailed = FilterPattern.all(
  FilterPattern.stringValue('$.type', '=', 'platform.report'),
  FilterPattern.stringValue('$.record.status', '!=', 'success'),
);

/** The routes that call receivers or models. */
const callingOut = routes
  .map(([, row]): Endpoint => row)
  .filter(({ callsOut }) => callsOut)
  .map(routeKeyOf);

const is = (route: string) => FilterPattern.stringValue('$.route', '=', route);
const isNot = (route: string) => FilterPattern.stringValue('$.route', '!=', route);

/** A pattern of the lines of the access log that have a number of milliseconds. */
const answeredAfterSome = FilterPattern.numberValue('$.latencyMs', '>=', 0);

/** Creates the metric of the time of the slowest hundredth of the requests whose lines in the access log match a pattern. */
function latency(scope: Construct, name: string, { accessLog }: Api, filterPattern: IFilterPattern): Metric {
  return metricOfLines(scope, name, [accessLog], { filterPattern, value: '$.latencyMs', statistic: Stats.p(99) });
}

/** Creates a metric of the number of lines that match a pattern in several logs. */
function countedLines(
  scope: Construct,
  name: string,
  logs: readonly ILogGroup[],
  filterPattern: IFilterPattern,
): Metric {
  return metricOfLines(scope, name, logs, { filterPattern, value: '1', statistic: Stats.SUM });
}

/** Creates a metric of the values of lines that match a pattern in several logs. */
function metricOfLines(
  scope: Construct,
  name: string,
  logs: readonly ILogGroup[],
  { filterPattern, value, statistic }: { filterPattern: IFilterPattern; value: string; statistic: string },
): Metric {
  const metricName = `${Stack.of(scope).stackName}${name}`;
  for (const logGroup of logs)
    new MetricFilter(scope, `${name}In${logGroup.node.id}`, {
      logGroup,
      metricNamespace,
      metricName,
      filterPattern,
      metricValue: value,
    });
  return new Metric({ namespace: metricNamespace, metricName, statistic, period });
}

function ownMetric(scope: Construct, metricName: MetricName, statistic: string): Metric {
  return new Metric({
    namespace: metricNamespace,
    metricName,
    dimensionsMap: { [metricDimension]: Stack.of(scope).stackName },
    statistic,
    period,
  });
}
