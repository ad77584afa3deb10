import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { QueueName } from '../../lib/contract/deployment.ts';
import { type MetricName, metricDimension, metricNamespace } from '../../lib/contract/metrics.ts';
import type { Api } from './api.ts';
import type { Pipeline } from './pipeline.ts';
import type { Settings } from './settings.ts';

/** Where each alarm says what to do. */
const runbook = 'docs/runbook.md';

const period = Duration.minutes(5);

/** An alarm: whom it hurts, and when it is raised. */
type Watch = {
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
  /** So many of so many periods. */
  during?: { periods: number; of: number };
};

/**
 * The queues in which a message that waits hurts somebody. In the others they wait on purpose, for receivers that are
 * slow, or for what is out of sight already; each metric of an alarm has its price.
 */
const promptQueues: readonly QueueName[] = ['deliveries', 'executions'];

/** The alarms that a bad version of the API's functions raises. */
const rollingBack = ['api-errors', 'api-latency'];

/** What operators see: an alarm for each thing that hurts somebody, and a dashboard of the same figures. */
export class Monitoring extends Construct {
  /** The alarms that roll a canary deployment back. */
  readonly rollbackAlarms: Alarm[] = [];

  constructor(scope: Construct, id: string, watched: { api: Api; pipeline: Pipeline; settings: Settings }) {
    super(scope, id);
    const { settings } = watched;
    const watches = watchesOf(this, watched);
    const actions = this.topicsOf(settings).map((topic) => new SnsAction(topic));
    for (const watch of watches) {
      if (settings.emulator && watch.metric instanceof MathExpression) continue;
      const alarm = this.alarmOf(watch);
      if (rollingBack.includes(watch.name)) this.rollbackAlarms.push(alarm);
      alarm.addAlarmAction(...actions);
      alarm.addOkAction(...actions);
    }
    new Dashboard(this, 'Dashboard', {
      dashboardName: Stack.of(this).stackName,
      widgets: rowsOfThree(
        watches.map(
          ({ name, hurts, figure, metric, threshold }) =>
            new GraphWidget({
              title: name,
              width: 8,
              left: [metric],
              leftYAxis: { label: figure, showUnits: false },
              leftAnnotations: [{ value: threshold, label: hurts }],
            }),
        ),
      ),
    });
  }

  private alarmOf({ name, hurts, metric, threshold, below, during = { periods: 1, of: 1 } }: Watch): Alarm {
    return new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName} ${name}`,
      alarmDescription: `${hurts} What to do: ${runbook}#${name}`,
      metric,
      threshold,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: during.of,
      datapointsToAlarm: during.periods,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }

  /** Returns the topics that alarms publish to: an existing one, one of the stack that mails an address, or both. */
  private topicsOf({ alarmEmail, alarmTopicArn }: Settings): ITopic[] {
    return [
      ...(alarmTopicArn ? [Topic.fromTopicArn(this, 'ExistingAlarms', alarmTopicArn)] : []),
      ...(alarmEmail ? [this.topicFor(alarmEmail)] : []),
    ];
  }

  /** Creates a topic that mails an address, and lets the alarms of this account publish to it. */
  private topicFor(email: string): Topic {
    const topic = new Topic(this, 'Alarms', { enforceSSL: true });
    // `enforceSSL` writes a policy with one Deny. It replaces the default policy, which let CloudWatch publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AllowAlarms',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}

function watchesOf(
  scope: Construct,
  { api, pipeline, settings }: { api: Api; pipeline: Pipeline; settings: Settings },
): Watch[] {
  const own = (metricName: MetricName, statistic: string) => ownMetric(scope, metricName, statistic);
  const { queues, functions } = pipeline;
  const ages = Object.fromEntries(
    promptQueues.map((name) => [name, queues[name].metricApproximateAgeOfOldestMessage({ period })]),
  );
  return [
    {
      name: 'api-errors',
      hurts: 'Callers of the API get answers of 5xx: their requests fail.',
      figure: 'share of requests',
      metric: errorShare(api),
      threshold: 0.01,
      during: { periods: 2, of: 3 },
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
      name: 'stream-age',
      hurts: 'Receivers hear late, and executions start late: changes wait to be published.',
      figure: 'milliseconds',
      metric: functions.publishEvents.metric('IteratorAge', { statistic: Stats.MAXIMUM, period }),
      threshold: 60_000,
      during: { periods: 2, of: 2 },
    },
    {
      name: 'oldest-message',
      hurts: 'Receivers hear late, or executions wait for a worker: a message is not taken.',
      figure: 'seconds',
      metric: new MathExpression({
        expression: `MAX([${Object.keys(ages).join(', ')}])`,
        usingMetrics: ages,
        period,
      }),
      threshold: 300,
      during: { periods: 2, of: 2 },
    },
    {
      name: 'dead-letters',
      hurts: 'Something was given up after five tries: an event may not have been told, or a purge not be complete.',
      figure: 'dead letters',
      metric: queues.deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
      threshold: 0,
    },
    {
      name: 'lost-executions',
      hurts: 'Users of agents get failures that are ours: two workers died of an execution.',
      figure: 'executions',
      metric: own('ExecutionsLost', Stats.SUM),
      threshold: 0,
    },
    {
      name: 'delivery-success',
      hurts: 'Receivers hear nothing: most attempts fail, at more than one of them perhaps for a fault of ours.',
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
      metric: unauthorized(scope, api),
      threshold: Math.max(100, settings.throttleRate),
    },
  ];
}

/** Where fewer requests than these come in a period, the share of errors is computed as if so many had come. */
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

/** Requests without a good token, counted in the log of the API. */
function unauthorized(scope: Construct, api: Api): Metric {
  const filter = new MetricFilter(scope, 'UnauthorizedFilter', {
    logGroup: api.accessLog,
    metricNamespace,
    metricName: `${Stack.of(scope).stackName}Unauthorized`,
    filterPattern: FilterPattern.stringValue('$.status', '=', '401'),
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

function rowsOfThree<Widget>(widgets: readonly Widget[]): Widget[][] {
  return widgets.flatMap((_, at) => (at % 3 === 0 ? [widgets.slice(at, at + 3)] : []));
}
