import { expect, it } from 'vitest';
import { synthesized } from '../synthesized.ts';

const alarmEmail = 'ops@example.com';
const alarmTopicArn = 'arn:aws:sns:eu-central-1:444455556666:on-call';

/** Returns the stack with these settings, the distinct actions of its alarms, and its topics. */
function alarmsOf(settings: Record<string, unknown>) {
  const { template, resources, propertiesOf } = synthesized(settings);
  const topics = Object.keys(resources('AWS::SNS::Topic')).map((Ref) => ({ Ref }));
  const actions = propertiesOf('AWS::CloudWatch::Alarm').map(({ AlarmActions = [], OKActions = [] }) =>
    JSON.stringify([AlarmActions, OKActions]),
  );
  return { template, propertiesOf, topics, actions: [...new Set(actions)].map((one) => JSON.parse(one)) };
}

it('alarms with alarmEmail publish to a topic that mails the address, when they are raised and when they end', () => {
  const { template, actions, topics } = alarmsOf({ alarmEmail });
  expect(topics).toHaveLength(1);
  expect(actions).toEqual([[topics, topics]]);
  const subscription = { TopicArn: topics[0], Protocol: 'email', Endpoint: alarmEmail };
  template.allResourcesProperties('AWS::SNS::Subscription', subscription);
});

it('only alarms of the account can publish to the topic, and only with TLS', () => {
  const { propertiesOf, topics } = alarmsOf({ alarmEmail });
  const [policy, ...others] = propertiesOf('AWS::SNS::TopicPolicy');
  expect([policy.Topics, others]).toEqual([topics, []]);
  const publish = { Action: 'sns:Publish', Resource: topics[0] };
  const withoutTls = { Bool: { 'aws:SecureTransport': 'false' } };
  const ofAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
  const alarms = { Service: 'cloudwatch.amazonaws.com' };
  expect(policy.PolicyDocument.Statement).toEqual([
    { Sid: 'AllowPublishThroughSSLOnly', Effect: 'Deny', Principal: '*', ...publish, Condition: withoutTls },
    { Sid: 'AllowAlarms', Effect: 'Allow', Principal: alarms, ...publish, Condition: ofAccount },
  ]);
});

it('alarms with alarmTopicArn publish to that topic, which the stack does not change', () => {
  const { template, actions } = alarmsOf({ alarmTopicArn });
  expect(actions).toEqual([[[alarmTopicArn], [alarmTopicArn]]]);
  for (const type of ['Topic', 'TopicPolicy', 'Subscription']) template.resourceCountIs(`AWS::SNS::${type}`, 0);
});

it('alarms with both settings publish to both topics, and alarms without either have no actions', () => {
  const { actions, topics } = alarmsOf({ alarmTopicArn, alarmEmail });
  expect(actions).toEqual([[[alarmTopicArn, ...topics], expect.anything()]]);
  expect(alarmsOf({})).toMatchObject({ actions: [[[], []]], topics: [] });
});
