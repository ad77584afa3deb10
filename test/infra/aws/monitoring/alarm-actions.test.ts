import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { stackOf } from '../synthesized.ts';

type Alarm = { AlarmActions?: unknown[]; OKActions?: unknown[] };

const alarmEmail = 'ops@example.com';
const alarmTopicArn = 'arn:aws:sns:eu-central-1:444455556666:on-call';

/** Returns the template of a stack with these settings, the actions of its alarms, and its topics. */
function alarmsOf(settings: Record<string, unknown>) {
  const template = Template.fromStack(stackOf(undefined, settings));
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')) as { Properties: Alarm }[];
  const topics = Object.keys(template.findResources('AWS::SNS::Topic')).map((Ref) => ({ Ref }));
  const actions = alarms.map(({ Properties: { AlarmActions = [], OKActions = [] } }) => ({ AlarmActions, OKActions }));
  expect(actions.length).toBeGreaterThan(5);
  return { template, actions, topics };
}

it('alarms with alarmEmail publish to a topic that mails the address, when they are raised and when they end', () => {
  const { template, actions, topics } = alarmsOf({ alarmEmail });
  const [topic, ...others] = topics;
  expect(others).toEqual([]);
  for (const one of actions) expect(one).toEqual({ AlarmActions: [topic], OKActions: [topic] });
  template.allResourcesProperties('AWS::SNS::Subscription', {
    TopicArn: topic,
    Protocol: 'email',
    Endpoint: alarmEmail,
  });
});

it('only alarms of the account can publish to the topic, and only with TLS', () => {
  const { template, topics } = alarmsOf({ alarmEmail });
  const [topic] = topics;
  const [policy, ...others] = Object.values(template.findResources('AWS::SNS::TopicPolicy'));
  expect(others).toEqual([]);
  expect(policy?.Properties.Topics).toEqual(topics);
  expect(policy?.Properties.PolicyDocument.Statement).toEqual([
    {
      Sid: 'AllowPublishThroughSSLOnly',
      Effect: 'Deny',
      Principal: '*',
      Action: 'sns:Publish',
      Resource: topic,
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    },
    {
      Sid: 'AllowAlarms',
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: 'sns:Publish',
      Resource: topic,
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    },
  ]);
});

it('alarms with alarmTopicArn publish to that topic, which the stack does not change', () => {
  const { template, actions, topics } = alarmsOf({ alarmTopicArn });
  for (const one of actions) expect(one).toEqual({ AlarmActions: [alarmTopicArn], OKActions: [alarmTopicArn] });
  expect(topics).toEqual([]);
  template.resourceCountIs('AWS::SNS::TopicPolicy', 0);
  template.resourceCountIs('AWS::SNS::Subscription', 0);
});

it('alarms with both settings publish to both topics', () => {
  const { actions, topics } = alarmsOf({ alarmTopicArn, alarmEmail });
  for (const { AlarmActions } of actions) expect(AlarmActions).toEqual([alarmTopicArn, ...topics]);
});

it('alarms without either setting have no actions', () => {
  const { actions, topics } = alarmsOf({});
  expect(topics).toEqual([]);
  for (const one of actions) expect(one).toEqual({ AlarmActions: [], OKActions: [] });
});
