import { Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { ConsumerName } from '../../lib/contract/consumers.ts';
import { fileNameOf } from '../../lib/contract/endpoints.ts';
import { type MetricName, metricDimension, metricNamespace } from '../../lib/contract/metrics.ts';
import type { Api } from './api.ts';
import type { Pipeline } from './pipeline.ts';
import type { ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';

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

/** For each function of the pipeline, whom it hurts where it fails or is not called. */
const failing: Record<ConsumerName, string> = {
  publishEvents: 'Receivers get events late, and executions start late',
  deliverWebhook: 'Receivers get events late, or get one twice',
  runExecution: 'Users of agents wait, and executions may be lost',
  purgeAgent: 'Organizations that deleted an agent or a task: its data is still stored',
  sweepOverdue: 'Receivers and users of agents whose message was lost, since nothing sends another',
};

/** Returns the alarms of a stack. Metric filters that they need are created in `scope`. */
export function watchesOf(scope: Construct, { api, pipeline, settings }: Watched): Watch[] {
  const own = (metricName: MetricName, statistic: string) => ownMetric(scope, metricName, statistic);
  const { queues, functions } = pipeline;
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
      name: 'throttled-requests',
      hurts: 'Callers of the API are answered 429: they send more than the limits allow.',
      figure: 'requests',
      metric: requestsAnswered(scope, api, 429, 'Throttled'),
      threshold: Math.max(100, settings.throttleRate),
      during: lasting,
    },
    {
      name: 'heartbeat',
      hurts:
        'Everybody, soon: the heartbeat does not arrive, so events and executions do not either, or nothing shows it.',
      figure: 'seconds on the way',
      metric: own('HeartbeatAge', Stats.MAXIMUM),
      threshold: 300,
      during: lasting,
      always: true,
    },
    {
      name: 'stream-age',
      hurts: 'Receivers get events late, and executions start late: changes wait to be published.',
      figure: 'milliseconds',
      metric: functions.publishEvents.metric('IteratorAge', { statistic: Stats.MAXIMUM, period }),
      threshold: 60_000,
      during: { periods: 2, of: 2 },
    },
    {
      name: 'late-deliveries',
      hurts: 'Receivers get events or retries late: a delivery has been due for over 5 minutes, and no worker has it.',
      figure: 'seconds past due',
      metric: own('DeliveriesLate', Stats.MAXIMUM),
      threshold: 300,
      during: lasting,
      always: true,
    },
    {
      name: 'late-slow-deliveries',
      hurts: 'Receivers that answer slowly get events over 30 minutes late; no other receiver waits for them.',
      figure: 'seconds past due',
      metric: own('SlowDeliveriesLate', Stats.MAXIMUM),
      threshold: 1_800,
      during: lasting,
    },
    {
      name: 'late-executions',
      hurts: 'Users of agents wait: an execution has been due for over 5 minutes, and no worker has it.',
      figure: 'seconds past due',
      metric: own('ExecutionsLate', Stats.MAXIMUM),
      threshold: 300,
      during: lasting,
      always: true,
    },
    ...Object.entries(failing).map(
      ([name, hurts]): Watch => ({
        name: `${fileNameOf(name)}-fails`,
        hurts: `${hurts}. Calls of ${fileNameOf(name)} fail or are throttled.`,
        figure: 'calls',
        metric: failures(functions[name as ConsumerName]),
        threshold: 0,
        during: { periods: 3, of: 3 },
      }),
    ),
    {
      name: 'dead-letters',
      hurts:
        'Receivers may miss an event, or data of a deleted agent or task is still stored: a message failed five times.',
      figure: 'dead letters',
      metric: queues.deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
      threshold: 0,
    },
    {
      name: 'lost-executions',
      hurts: 'Users of agents: an execution failed because two of its workers were lost.',
      figure: 'executions',
      metric: own('ExecutionsLost', Stats.SUM),
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
    {
      name: 'unauthorized-burst',
      hurts: 'Perhaps everybody: somebody tries tokens, or a program has lost its own.',
      figure: 'requests',
      metric: requestsAnswered(scope, api, 401, 'Unauthorized'),
      threshold: Math.max(100, settings.throttleRate),
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

/**
 * Calls of a function that failed or found no place. Lambda writes no errors for a function that is only throttled, and a
 * sum with a missing part is missing: each part is 0 instead.
 */
function failures(handler: ServiceFunction): MathExpression {
  return new MathExpression({
    expression: 'FILL(errors, 0) + FILL(throttles, 0)',
    usingMetrics: { errors: handler.metricErrors({ period }), throttles: handler.metricThrottles({ period }) },
    period,
  });
}

/** Counts requests with a status in the log of the API: an HTTP API has no metric of a single status. */
function requestsAnswered(scope: Construct, api: Api, status: number, name: string): Metric {
  const filter = new MetricFilter(scope, `${name}Filter`, {
    logGroup: api.accessLog,
    metricNamespace,
    metricName: `${Stack.of(scope).stackName}${name}`,
    filterPattern: FilterPattern.stringValue('$.status', '=', String(status)),
    metricValue: '1',
  });
  return filter.metric({ statistic: Stats.SUM, period });
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
