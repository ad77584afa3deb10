import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { type Watch, type Watched, watchesOf } from './alarms.ts';

/** Where each alarm says what to do. */
const runbook = 'docs/runbook.md';

/** The alarms that a bad version of the API's functions raises. */
const rollingBack = ['api-errors', 'api-latency'];

/** What operators see: an alarm for each thing that hurts somebody, and a dashboard of the same figures. */
export class Monitoring extends Construct {
  /** The alarms that roll a canary deployment back. */
  readonly rollbackAlarms: Alarm[] = [];

  constructor(scope: Construct, id: string, watched: Watched) {
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

  private alarmOf({ name, hurts, metric, threshold, below, during, always }: Watch): Alarm {
    return new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName} ${name}`,
      alarmDescription: `${hurts} What to do: ${runbook}#${name}`,
      metric,
      threshold,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: during?.of ?? 1,
      datapointsToAlarm: during?.periods ?? 1,
      treatMissingData: always ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
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

function rowsOfThree<Widget>(widgets: readonly Widget[]): Widget[][] {
  return widgets.flatMap((_, at) => (at % 3 === 0 ? [widgets.slice(at, at + 3)] : []));
}
