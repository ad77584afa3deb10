import { Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type MetricName, metricDimension, metricNamespace } from '../../../lib/deployment/metrics.ts';
import type { Api } from '../api/api.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Settings } from '../settings.ts';

/** The parts of a stack that alarms look at, and the settings that some thresholds follow. */
export type Watched = { api: Api; pipeline: Pipeline; settings: Settings };

/** An alarm: whom it hurts, and when it is raised. */
export type Watch = {
  /** Also the name of its section in the runbook. */
  name: string;
  /** Whom it hurts, and how. */
  hurts: string;
  /** What its figure is, in a few words, for the dashboard: its unit as CloudWatch has it may say something else. */
  figure: string;
  metric: IMetric;
  threshold: number;
  /** Below the threshold instead of above it. */
  below?: true;
  /** How many `periods` of the last `of` raise the alarm. */
  during?: { periods: number; of: number };
  /** The metric is written each minute, so that a period without it is one of those that raise the alarm. */
  always?: true;
};

const period = Duration.minutes(5);

/** Two of three periods: a single one of which nothing arrived, or a short wait, raises nothing. */
const lasting = { periods: 2, of: 3 };

/**
 * Returns the alarms of a stack, one for each kind of fault. CloudWatch bills each metric of an alarm and ten are free, so
 * functions and kinds of work share a metric; the runbook says how to find which of them it is. Metric filters that the
 * alarms need are created in `scope`.
 */
export function watchesOf(scope: Construct, { api, pipeline, settings }: Watched): Watch[] {
  const own = (metricName: MetricName, statistic: string) => ownMetric(scope, metricName, statistic);
  const { queues } = pipeline;
  return [
    {
      name: 'api-errors',
      hurts: 'Callers of the API get answers of 5xx: their requests fail.',
      figure: 'share of requests',
      metric: errorShare(api),
      threshold: 0.01,
      during: lasting,
    },
    {
      name: 'api-latency',
      hurts: 'Callers of the API wait: one request in a hundred takes longer than 3 s.',
      figure: 'milliseconds',
      metric: api.metric('Latency', Stats.p(99), period),
      threshold: 3_000,
      during: { periods: 3, of: 3 },
    },
    {
      name: 'refused-requests',
      hurts: 'Callers of the API are answered 429 or 401: they send too much, or somebody tries tokens.',
      figure: 'requests',
      // An HTTP API has no metric of a single status.
      metric: countedLines(scope, 'RequestsRefused', [api.accessLog], answered(401, 429)),
      threshold: Math.max(100, settings.throttleRate),
    },
    {
      name: 'late-work',
      hurts:
        'Everybody, soon: a change, a delivery or an execution waits longer than it should, or no heartbeat arrives, so nothing shows it.',
      figure: 'seconds longer than allowed',
      metric: own('WorkLate', Stats.MAXIMUM),
      threshold: 0,
      during: lasting,
      always: true,
    },
    {
      name: 'failing-calls',
      hurts:
        'Receivers and users of agents wait, or data of a deleted agent or task is still stored: calls of the pipeline fail or are throttled.',
      figure: 'calls',
      metric: failures(countedLines(scope, 'CallsFailed', Object.values(pipeline.logs), callFailed)),
      threshold: 0,
      // A single failure is repaired by the next call.
      during: { periods: 3, of: 3 },
    },
    {
      name: 'dead-letters',
      hurts:
        'Receivers may miss an event, or data of a deleted agent or task is still stored: a message failed five times.',
      figure: 'dead letters',
      metric: queues.deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
      threshold: 0,
    },
    {
      name: 'lost-work',
      hurts:
        'Users of agents: an execution failed because two of its workers were lost. Or receivers: messages of deliveries were lost, and are sent again.',
      figure: 'executions and deliveries',
      metric: own('WorkLost', Stats.SUM),
      threshold: 0,
    },
    {
      name: 'delivery-success',
      hurts:
        'Receivers get no events: most attempts fail. If several receivers are affected, the cause may be this service.',
      figure: 'share of attempts',
      // Every attempt counts 1 or 0.
      metric: own('AttemptsDelivered', Stats.AVERAGE),
      threshold: 0.5,
      below: true,
      during: { periods: 3, of: 3 },
    },
    {
      name: 'model-throttling',
      hurts: 'Users of agents wait, and may meet the deadline: models take fewer calls than are made.',
      figure: 'throttled calls',
      metric: own('ModelThrottles', Stats.SUM),
      threshold: 100,
      during: { periods: 3, of: 3 },
    },
  ];
}

/** The share of errors of a period with fewer requests than these is computed as if it had this number. */
const fewestRequests = 100;

/**
 * The share of requests that fail with a 5xx. With few requests one failure would be a large share; `fewestRequests`
 * keeps a single failure below the threshold without hiding several, even where every request fails.
 */
function errorShare(api: Api): MathExpression {
  return new MathExpression({
    expression: `errors / IF(requests < ${fewestRequests}, ${fewestRequests}, requests)`,
    usingMetrics: { errors: api.metric('5xx', Stats.SUM, period), requests: api.metric('Count', Stats.SUM, period) },
    period,
  });
}

/** Lines of the access log: requests that were answered with one of these statuses. */
function answered(...statuses: number[]): IFilterPattern {
  return FilterPattern.any(...statuses.map((status) => FilterPattern.stringValue('$.status', '=', String(status))));
}

/**
 * Calls that failed or found no place. Lambda writes no line of a call that it throttles. The throttles are those of all
 * functions of the account in the region, which share its quota: each function's own metric would be billed by itself. A sum
 * with a missing part is missing: each part is 0 instead.
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
 * Lines that Lambda itself writes of a call that failed, also where the function's code could not be loaded, ran out of
 * time or out of memory.
 */
const callFailed = FilterPattern.all(
  FilterPattern.stringValue('$.type', '=', 'platform.report'),
  FilterPattern.stringValue('$.record.status', '!=', 'success'),
);

/** Counts the lines of several logs that match a pattern, in one metric of the stack. */
function countedLines(
  scope: Construct,
  name: string,
  logs: readonly ILogGroup[],
  filterPattern: IFilterPattern,
): Metric {
  const metricName = `${Stack.of(scope).stackName}${name}`;
  for (const logGroup of logs)
    new MetricFilter(scope, `${name}In${logGroup.node.id}`, {
      logGroup,
      metricNamespace,
      metricName,
      filterPattern,
      metricValue: '1',
    });
  return new Metric({ namespace: metricNamespace, metricName, statistic: Stats.SUM, period });
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
