import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import boundary from '../../../../docs/rights/boundary.json' with { type: 'json' };
import policy from '../../../../docs/rights/cloudformation.json' with { type: 'json' };
import { isCovered } from '../../../rights.ts';
import { allOptions } from '../all-options.ts';
import { type Statement, synthesized } from '../synthesized.ts';

/** The options with which a stack uses an existing table and an existing key instead of its own. */
const existing = {
  ...{ warmThroughput: undefined, maxWriteRequestUnits: undefined },
  restoredStream: 'arn:aws:dynamodb:eu-central-1:123456789012:table/crewboard-restored/stream/2026-11-01T00:00:00.000',
  secretsKey: 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-1111-2222-333344445555',
};

/** The longest managed policy that IAM takes, in characters without white space (IAM User Guide, "Quotas"). */
const managedPolicyLimit = 6_144;

const pseudo: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-central-1',
  'AWS::AccountId': '123456789012',
};

/** The ARN of a created resource, whose name CloudFormation begins with the name of the stack. */
const arns: Record<string, (name: string) => string> = {
  'AWS::DynamoDB::GlobalTable': (name) => `arn:aws:dynamodb:eu-central-1:123456789012:table/${name}`,
  'AWS::KMS::Key': () => 'arn:aws:kms:eu-central-1:123456789012:key/mrk-1',
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:eu-central-1:123456789012:function:${name}`,
  'AWS::Lambda::Version': (name) => `arn:aws:lambda:eu-central-1:123456789012:function:${name}:1`,
  'AWS::Logs::LogGroup': (name) => `arn:aws:logs:eu-central-1:123456789012:log-group:${name}:*`,
  'AWS::SQS::Queue': (name) => `arn:aws:sqs:eu-central-1:123456789012:${name}`,
};

/** Returns a text of a template with the values that CloudFormation would put in. */
function resolved(value: unknown, typeOf: (id: string) => string): string {
  if (typeof value === 'string') return value;
  const { Ref, ...functions } = value as Record<string, unknown>;
  const { 'Fn::Join': join, 'Fn::GetAtt': attribute } = functions as Record<string, [string, unknown]>;
  if (join) return (join[1] as unknown[]).map((part) => resolved(part, typeOf)).join(join[0]);
  const id = attribute ? attribute[0] : String(Ref);
  if (pseudo[id]) return pseudo[id];
  const arn = arns[typeOf(id)];
  if (!arn) throw new Error(`This test knows no ARN of ${JSON.stringify(value)}.`);
  return arn(`Crewboard-${id}-1A2B3C`) + (attribute?.[1] === 'StreamArn' ? '/stream/2026-11-01T00:00:00.000' : '');
}

it.each([
  ['all options', allOptions],
  ['another table and another key', { ...allOptions, ...existing }],
])(
  'the boundary of docs/rights covers each statement of each role with %s, and no role has a managed policy',
  (_, settings) => {
    const { statementsByRole, resources, template } = synthesized(settings);
    const typeOf = (id: string) => (template.toJSON().Resources[id]?.Type ?? '') as string;
    const allowed = [...statementsByRole.values()].flat().filter(({ Effect }: Statement) => Effect === 'Allow');
    expect(allowed.length).toBeGreaterThan(30);
    const outside = allowed.flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) =>
        [Resource]
          .flat()
          .map((resource) => resolved(resource, typeOf))
          .filter((resource) => !isWithinBoundary(action, resource))
          .map((resource) => `${action} ${resource}`),
      ),
    );
    expect(outside).toEqual([]);
    const roles = Object.values(resources('AWS::IAM::Role'));
    expect(roles.filter(({ Properties }) => Properties.ManagedPolicyArns)).toEqual([]);
  },
);

function isWithinBoundary(action: string, resource: string): boolean {
  return boundary.Statement.some(
    ({ Action, Resource }) => isCovered(action, [Action].flat()) && isCovered(resource, [Resource].flat()),
  );
}

it('the setting permissionsBoundary gives each role the boundary; without it no role has one', () => {
  const boundariesOf = (settings: Record<string, unknown>) =>
    new Set(
      synthesized(settings)
        .propertiesOf('AWS::IAM::Role')
        .map(({ PermissionsBoundary }) => JSON.stringify(PermissionsBoundary)),
    );
  const parts = ['arn:', { Ref: 'AWS::Partition' }, ':iam::', { Ref: 'AWS::AccountId' }, ':policy/CrewboardBoundary'];
  expect(boundariesOf(allOptions)).toEqual(new Set([JSON.stringify({ 'Fn::Join': ['', parts] })]));
  expect(boundariesOf({})).toEqual(new Set([undefined]));
});

/** Returns the statements of the rights of CloudFormation that allow an action. */
const allowing = (action: string) =>
  policy.Statement.filter(({ Effect, Action }) => Effect === 'Allow' && isCovered(action, [Action].flat()));

it.each(['iam:CreateRole', 'iam:PutRolePolicy', 'iam:AttachRolePolicy', 'iam:PutRolePermissionsBoundary'])(
  'CloudFormation may call %s only for roles of its stacks with the boundary',
  (action) => {
    expect(allowing(action)).toEqual([
      expect.objectContaining({
        Resource: 'arn:*:iam::*:role/Crewboard*',
        Condition: {
          StringLike: { 'iam:PermissionsBoundary': `arn:*:iam::*:policy/${allOptions.permissionsBoundary}` },
        },
      }),
    ]);
  },
);

it.each([
  ['iam:PassRole', 'arn:*:iam::*:role/Crewboard*'],
  ['lambda:UpdateFunctionCode', 'arn:*:lambda:*:*:function:Crewboard*'],
  ['s3:GetObject', 'arn:*:s3:::cdk-*'],
])('CloudFormation may call %s only for %s', (action, resource) => {
  expect(allowing(action).map(({ Resource }) => Resource)).toEqual([resource]);
});

it('CloudFormation may not remove a boundary or change a policy, read items, or decrypt by itself', () => {
  const [denied] = policy.Statement.filter(({ Effect }) => Effect === 'Deny');
  expect(denied).toMatchObject({
    Action: expect.arrayContaining(['dynamodb:Scan', 'iam:DeleteRolePermissionsBoundary']),
  });
  expect(['iam:CreatePolicyVersion', 'iam:SetDefaultPolicyVersion'].flatMap(allowing)).toEqual([]);
  expect(allowing('kms:Decrypt')).toMatchObject([
    { Condition: { StringLike: { 'kms:ViaService': expect.anything() } } },
  ]);
});

it.each(readdirSync('docs/rights'))('%s is short enough for one managed policy', (name) => {
  const text = readFileSync(join('docs/rights', name), 'utf8');
  expect(JSON.stringify(JSON.parse(text)).length).toBeLessThanOrEqual(managedPolicyLimit);
});
