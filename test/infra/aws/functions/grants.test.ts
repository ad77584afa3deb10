import { Match } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import type { Endpoint, SecretsUse } from '../../../../lib/contract/endpoint.ts';
import { functionNameOf, routes } from '../../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../../lib/names/consumers.ts';
import { allOptions } from '../all-options.ts';
import { reads, type Statement, synthesized, writes } from '../synthesized.ts';

const { resources, queueOf, functionOf, statementsOf } = synthesized();
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));
const [key = ''] = Object.keys(resources('AWS::KMS::Key'));

/** Returns a right as text: its effect, action and resource. */
const right = (effect: 'Allow' | 'Deny', action: string, on: unknown) => `${effect} ${action} ${JSON.stringify(on)}`;
const arnOf = (id: string, attribute = 'Arn') => ({ 'Fn::GetAtt': [id, attribute] });
const allow = (actions: readonly string[], on: unknown) => actions.map((action) => right('Allow', action, on));
const deny = (actions: readonly string[], on: unknown) => actions.map((action) => right('Deny', action, on));

/** The right of every function, to write its own log. */
const logging = (id: string) =>
  allow(['logs:CreateLogStream', 'logs:PutLogEvents'], arnOf(functionOf(id).LoggingConfig.LogGroup.Ref));

const secretsOf = (use: SecretsUse | undefined) =>
  use ? allow([{ encrypts: 'kms:Encrypt', decrypts: 'kms:Decrypt' }[use]], arnOf(key)) : [];

const modelsOf = (asks: true | undefined) => (asks ? allow(['bedrock:InvokeModel'], '*') : []);

const onTable = arnOf(table);
const writing = [...allow(writes, onTable), ...deny(writes, onTable)];

function grantsOfRow(id: string, { scope, offersTools, method, secrets, asksModels, checksTable }: Endpoint): string[] {
  // The function of MCP calls all operations that read and write the table, and none that needs another right.
  if (offersTools) return [...logging(id), ...allow(reads, onTable), ...writing];
  if (!scope) return [...logging(id), ...(checksTable ? allow(['dynamodb:GetItem'], onTable) : [])];
  return [
    ...logging(id),
    ...allow(reads, onTable),
    ...(method === 'GET' ? allow(['dynamodb:UpdateItem'], onTable) : writing),
    ...secretsOf(secrets),
    ...modelsOf(asksModels),
  ];
}

function grantsOfConsumer(id: string, { sources, sendsTo, secrets, asksModels }: Consumer): string[] {
  return [
    ...logging(id),
    ...allow(reads, onTable),
    ...deny(reads, onTable),
    ...writing,
    ...sendsTo.flatMap((name) => allow(['sqs:SendMessage'], arnOf(queueOf(name)))),
    ...secretsOf(secrets),
    ...modelsOf(asksModels),
    ...sources.flatMap((source) => {
      if ('stream' in source) return allow(streamReads, arnOf(table, 'StreamArn'));
      if ('queue' in source) return allow(polling, arnOf(queueOf(source.queue)));
      return allow(['dynamodb:Query'], { 'Fn::Join': ['', [onTable, '/index/due']] });
    }),
  ];
}

const streamReads = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
  (name) => `dynamodb:${name}`,
);
/** The actions of Lambda's poller on a queue. */
const polling = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'GetQueueUrl', 'ReceiveMessage'].map(
  (name) => `sqs:${name}`,
);

const givenTo = (id: string): string[] =>
  statementsOf(id).flatMap(({ Effect, Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((on) => right(Effect, action, on))),
  );

const sorted = (rights: readonly string[]) => [...new Set(rights)].sort();

const expected = [
  ['Unmatched', logging('Unmatched')] as const,
  ...routes.map(([name, row]) => {
    const id = constructIdOf(functionNameOf(name, row));
    return [id, grantsOfRow(id, row)] as const;
  }),
  ...Object.entries(consumers as Record<string, Consumer>).map(
    ([name, row]) => [constructIdOf(name), grantsOfConsumer(constructIdOf(name), row)] as const,
  ),
];

it.each(expected)('%s has exactly the rights that it needs by the contract', (id, rights) => {
  expect(sorted(givenTo(id))).toEqual(sorted(rights));
});

it.each([
  ['without options', {}, ['bedrock:InvokeModel']],
  ['with every option', allOptions, ['xray:PutTelemetryRecords', 'xray:PutTraceSegments']],
])('the rights of the stack %s come from no managed policy, and few are on all resources', (_, settings, expected) => {
  const { template, statementsByRole } = synthesized(settings);
  template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  const statements = [...statementsByRole.values()].flat();
  expect(statements.flatMap(({ Action }) => Action).filter((action) => action.includes('*'))).toEqual([]);
  const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
  const actions = new Set(everywhere.flatMap(({ Action }) => Action));
  expect([...actions].sort()).toEqual(expected);
  template.resourceCountIs('AWS::S3::Bucket', 0);
});

const asksModels = ({ Action }: Statement) => [Action].flat().some((action) => /^(bedrock|\*)/.test(action));

function textOf(resource: unknown): string {
  const parts = (resource as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join']?.[1] ?? [resource];
  return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('');
}

it.each([
  ['default', [':inference-profile/eu.anthropic', ':bedrock:eu-*::foundation-model/anthropic']],
  ['every', [/^\*$/]],
  [undefined, [/^\*$/]],
])('executions may call the models of allowedModels %j', (allowedModels, expected) => {
  const [asking] = synthesized(allowedModels ? { allowedModels } : {})
    .statementsOf('RunExecution')
    .filter(asksModels);
  const resources = [asking?.Resource].flat().map(textOf).sort();
  expect(resources.reverse()).toEqual(
    expected.map((part) => (typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part))),
  );
});

it('executions may call the allowed models only, with the models of their profiles, if the settings name them', () => {
  const application = 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/four';
  const allowedModels = ['eu.maker.one', 'global.maker.two', 'maker.three', application];
  const limited = synthesized({ allowedModels, defaultModel: 'eu.maker.one' });
  const [asking] = limited.statementsOf('RunExecution').filter(asksModels);
  const bedrock = 'arn:{"Ref":"AWS::Partition"}:bedrock';
  const own = `${bedrock}:{"Ref":"AWS::Region"}`;
  expect([asking?.Resource].flat().map(textOf).sort()).toEqual(
    [
      `${own}:{"Ref":"AWS::AccountId"}:inference-profile/eu.maker.one`,
      `${bedrock}:eu-*::foundation-model/maker.one`,
      `${own}:{"Ref":"AWS::AccountId"}:inference-profile/global.maker.two`,
      `${own}::foundation-model/maker.two`,
      `${bedrock}:::foundation-model/maker.two`,
      `${own}::foundation-model/maker.three`,
      application,
      `${bedrock}:*::foundation-model/*`,
    ].sort(),
  );
  expect(limited.functionOf('RunExecution').Environment.Variables.ALLOWED_MODELS).toBe(allowedModels.join(','));
  limited.template.hasOutput('AllowedModels', { Value: allowedModels.join(',') });
});
