import { expect, it } from 'vitest';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import type { Endpoint, SecretsUse } from '../../../../lib/contract/endpoint.ts';
import { routes } from '../../../../lib/contract/routes.ts';
import { type Consumer, consumers } from '../../../../lib/deployment/consumers.ts';
import { reads, synthesized, writes } from '../synthesized.ts';

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

/** Returns the rights that an endpoint needs by the contract. */
function grantsOfRow(id: string, { scope, method, secrets, asksModels }: Endpoint): string[] {
  if (!scope) return logging(id);
  return [
    ...logging(id),
    ...allow(reads, onTable),
    ...(method === 'GET' ? allow(['dynamodb:UpdateItem'], onTable) : writing),
    ...secretsOf(secrets),
    ...modelsOf(asksModels),
  ];
}

/** Returns the rights that a consumer needs by the contract. */
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

/** Returns the rights of a function in the template. */
const givenTo = (id: string): string[] =>
  statementsOf(id).flatMap(({ Effect, Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((on) => right(Effect, action, on))),
  );

const sorted = (rights: readonly string[]) => [...new Set(rights)].sort();

const expected = [
  ['Unmatched', logging('Unmatched')] as const,
  ...routes.map(([name, row]) => [constructIdOf(name), grantsOfRow(constructIdOf(name), row)] as const),
  ...Object.entries(consumers as Record<string, Consumer>).map(
    ([name, row]) => [constructIdOf(name), grantsOfConsumer(constructIdOf(name), row)] as const,
  ),
];

it.each(expected)('%s has exactly the rights that it needs by the contract', (id, rights) => {
  expect(sorted(givenTo(id))).toEqual(sorted(rights));
});
