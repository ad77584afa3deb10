import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type Policy, permits, resolved } from '../policies.ts';
import { stackOf } from '../synthesized.ts';

type Alarm = {
  AlarmName: string;
  AlarmActions?: unknown[];
  OKActions?: unknown[];
  InsufficientDataActions?: unknown[];
};
type TopicPolicy = { PolicyDocument: unknown; Topics: unknown[] };
type Subscription = { TopicArn: unknown; Protocol: string; Endpoint: string };

const account = '111122223333';
const region = 'eu-central-1';
const existing = `arn:aws:sns:${region}:444455556666:on-call`;

/** Returns the actions of the alarms of a stack with these settings. */
function alarmsOf(settings: Record<string, unknown>) {
  const template = Template.fromStack(stackOf(undefined, settings));
  const found = <Properties>(type: string) =>
    Object.entries(template.findResources(type)).map(([id, { Properties }]) => ({ id, ...(Properties as Properties) }));
  const topics = found<object>('AWS::SNS::Topic').map(({ id }) => id);
  const arnOf = (id: string) => `arn:aws:sns:${region}:${account}:${id}`;
  const refs = {
    'AWS::AccountId': account,
    'AWS::Region': region,
    'AWS::Partition': 'aws',
    ...Object.fromEntries(topics.map((id) => [id, arnOf(id)])),
  };
  const read = <Value>(part: unknown) => resolved(part, refs) as Value;
  const alarms = found<Alarm>('AWS::CloudWatch::Alarm').map(({ AlarmName, AlarmActions = [], OKActions = [] }) => ({
    arn: `arn:aws:cloudwatch:${region}:${account}:alarm:${AlarmName}`,
    onAlarm: read<string[]>(AlarmActions),
    onOk: read<string[]>(OKActions),
  }));
  const policies = found<TopicPolicy>('AWS::SNS::TopicPolicy').map(({ PolicyDocument, Topics }) => ({
    policy: read<Policy>(PolicyDocument),
    topics: read<string[]>(Topics),
  }));
  const subscriptions = found<Subscription>('AWS::SNS::Subscription').map(({ TopicArn, Protocol, Endpoint }) => ({
    topic: read<string>(TopicArn),
    receiver: `${Protocol} ${Endpoint}`,
  }));
  return { topics: topics.map(arnOf), alarms, policies, subscriptions };
}

describe('an alarm with alarmEmail', () => {
  const { topics, alarms, policies, subscriptions } = alarmsOf({ alarmEmail: 'ops@example.com' });
  const [topic = ''] = topics;
  const [{ policy } = { policy: { Statement: [] } }] = policies.filter((one) => one.topics.includes(topic));

  /** Returns whether the topic's policy lets CloudWatch publish with these condition keys. */
  const mayPublish = (keys: Record<string, string>, service = 'cloudwatch.amazonaws.com') =>
    permits(policy, { service, action: 'sns:Publish', resource: topic, keys });
  const own = { 'aws:SecureTransport': 'true', 'aws:SourceAccount': account, 'aws:SourceArn': alarms[0]?.arn ?? '' };

  it('exists', () => {
    expect(alarms.length).toBeGreaterThan(5);
    expect(topics).toHaveLength(1);
    expect(policies).toHaveLength(1);
  });

  it.each(alarms)('$arn may publish to its topic, when it is raised and when it ends', (alarm) => {
    expect(alarm.onAlarm).toEqual([topic]);
    expect(alarm.onOk).toEqual([topic]);
    expect(mayPublish({ ...own, 'aws:SourceArn': alarm.arn })).toBe(true);
  });

  it('is mailed to the address', () => {
    expect(subscriptions).toEqual([{ topic, receiver: 'email ops@example.com' }]);
  });

  it.each([
    ['of another account', { ...own, 'aws:SourceAccount': '999999999999' }],
    ['that names no account', { 'aws:SecureTransport': 'true' }],
    ['without TLS', { ...own, 'aws:SecureTransport': 'false' }],
  ])('cannot be faked by a message %s', (_, keys) => {
    expect(mayPublish(keys)).toBe(false);
  });

  it('is the only source that the policy lets publish', () => {
    expect(mayPublish(own, 'events.amazonaws.com')).toBe(false);
  });
});

describe('an alarm with alarmTopicArn', () => {
  it('publishes to that topic, which the stack does not create', () => {
    const { topics, alarms, policies, subscriptions } = alarmsOf({ alarmTopicArn: existing });
    for (const { onAlarm, onOk } of alarms) expect([onAlarm, onOk]).toEqual([[existing], [existing]]);
    expect([topics, policies, subscriptions]).toEqual([[], [], []]);
  });

  it('publishes to it and mails, if both are set', () => {
    const { topics, alarms, policies } = alarmsOf({ alarmTopicArn: existing, alarmEmail: 'ops@example.com' });
    for (const { onAlarm } of alarms) expect(onAlarm).toEqual([existing, ...topics]);
    expect(policies.map((one) => one.topics)).toEqual([topics]);
  });
});

it('an alarm without either setting has no actions', () => {
  const { topics, alarms } = alarmsOf({});
  expect(topics).toEqual([]);
  for (const { onAlarm, onOk } of alarms) expect([onAlarm, onOk]).toEqual([[], []]);
});
