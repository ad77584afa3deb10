import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { stackOf } from '../synthesized.ts';

const alarmEmail = 'ops@example.com';
const alarmTopicArn = 'arn:aws:sns:eu-central-1:444455556666:on-call';

/** Returns the template of a stack with these settings, the distinct actions of its alarms, and its topics. */
function alarmsOf(settings: Record<string, unknown>) {
  const template = Template.fromStack(stackOf(undefined, settings));
  const topics = Object.keys(template.findResources('AWS::SNS::Topic')).map((Ref) => ({ Ref }));
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  const actions = alarms.map(({ Properties: { AlarmActions = [], OKActions = [] } }) => [AlarmActions, OKActions]);
  return {
    template,
    topics,
    actions: [...new Set(actions.map((one) => JSON.stringify(one)))].map((one) => JSON.parse(one)),
  };
}

it('alarms with alarmEmail publish to a topic that mails the address, when they are raised and when they end', () => {
  const { template, actions, topics } = alarmsOf({ alarmEmail });
  expect(topics).toHaveLength(1);
  expect(actions).toEqual([[topics, topics]]);
  const subscription = { TopicArn: topics[0], Protocol: 'email', Endpoint: alarmEmail };
  template.allResourcesProperties('AWS::SNS::Subscription', subscription);
});

it('only alarms of the account can publish to the topic, and only with TLS', () => {
  const { template, topics } = alarmsOf({ alarmEmail });
  const [policy, ...others] = Object.values(template.findResources('AWS::SNS::TopicPolicy'));
  expect([policy?.Properties.Topics, others]).toEqual([topics, []]);
  const publish = { Action: 'sns:Publish', Resource: topics[0] };
  const withoutTls = { Bool: { 'aws:SecureTransport': 'false' } };
  const ofAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
  const alarms = { Service: 'cloudwatch.amazonaws.com' };
  expect(policy?.Properties.PolicyDocument.Statement).toEqual([
    { Sid: 'AllowPublishThroughSSLOnly', Effect: 'Deny', Principal: '*', ...publish, Condition: withoutTls },
    { Sid: 'AllowAlarms', Effect: 'Allow', Principal: alarms, ...publish, Condition: ofAccount },
  ]);
});

it('alarms with alarmTopicArn publish to that topic, which the stack does not change', () => {
  const { template, actions } = alarmsOf({ alarmTopicArn });
  expect(actions).toEqual([[[alarmTopicArn], [alarmTopicArn]]]);
  for (const type of ['Topic', 'TopicPolicy', 'Subscription']) template.resourceCountIs(`AWS::SNS::${type}`, 0);
});

it('alarms with both settings publish to both topics', () => {
  const { actions, topics } = alarmsOf({ alarmTopicArn, alarmEmail });
  expect(actions).toEqual([[[alarmTopicArn, ...topics], expect.anything()]]);
});

it('alarms without either setting have no actions', () => {
  const { actions, topics } = alarmsOf({});
  expect([actions, topics]).toEqual([[[[], []]], []]);
});
