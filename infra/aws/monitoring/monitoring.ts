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
import type { DeploySettings } from '../settings.ts';
import { type AlarmDefinition, alarmDefinitions, type Monitored } from './alarms.ts';

/** The page that says what to do about each alarm. */
const runbook = 'docs/runbook.md';

/** The alarms of the stack, and a dashboard with a graph for each alarm. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, monitored: Monitored) {
    super(scope, id);
    const { settings } = monitored;
    const definitions = alarmDefinitions(this, monitored);
    const actions = this.topicsOf(settings).map((topic) => new SnsAction(topic));
    for (const definition of definitions) {
      if (settings.emulator && definition.metric instanceof MathExpression) continue;
      const alarm = this.createAlarm(definition);
      alarm.addAlarmAction(...actions);
      alarm.addOkAction(...actions);
    }
    new Dashboard(this, 'Dashboard', {
      dashboardName: Stack.of(this).stackName,
      widgets: rowsOfThree(
        definitions.map(
          ({ name, impact, unit, metric, beside = [], threshold }) =>
            new GraphWidget({
              title: name,
              width: 8,
              left: [metric, ...beside],
              leftYAxis: { label: unit, showUnits: false },
              leftAnnotations: [{ value: threshold, label: impact }],
            }),
        ),
      ),
    });
  }

  private createAlarm(definition: AlarmDefinition): Alarm {
    const { name, impact, metric, threshold, below, during, ignoresFewSamples, missingIsBreaching } = definition;
    return new Alarm(this, name, {
      alarmName: `${Stack.of(this).stackName} ${name}`,
      alarmDescription: `${impact} What to do: ${runbook}#${name}`,
      metric,
      threshold,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: during?.of ?? 1,
      datapointsToAlarm: during?.periods ?? 1,
      ...(ignoresFewSamples && { evaluateLowSampleCountPercentile: 'ignore' }),
      treatMissingData: missingIsBreaching ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
  }

  /** Returns the topics of the alarms: an existing one, a new one that mails an address, or both. */
  private topicsOf({ alarmEmail, alarmTopicArn }: DeploySettings): ITopic[] {
    return [
      ...(alarmTopicArn ? [Topic.fromTopicArn(this, 'ExistingAlarms', alarmTopicArn)] : []),
      ...(alarmEmail ? [this.topicFor(alarmEmail)] : []),
    ];
  }

  /** Creates a topic that mails an address, and lets the alarms of this account publish to it. */
  private topicFor(email: string): Topic {
    const topic = new Topic(this, 'Alarms', { enforceSSL: true });
    // `enforceSSL` creates a policy with one Deny, which replaces the default policy that lets CloudWatch publish.
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
