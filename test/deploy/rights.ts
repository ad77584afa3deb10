import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import policy from '../../docs/rights/cloudformation.json' with { type: 'json' };
import { allOptions } from '../infra/aws/all-options.ts';
import { stackOf } from '../infra/aws/synthesized.ts';

/** AWS's schema of a resource type: the actions that CloudFormation calls to create, read, update and delete it. */
type Schema = {
  typeName: string;
  handlers?: Record<string, { permissions?: string[] }>;
  tagging?: { permissions?: string[] };
};

type Resources = { Resources: Record<string, { Type: string }> };

/** Actions of the schemas that no resource of the stack needs. Some would let a deploy read data or decrypt secrets. */
const unused = [
  /^(application-autoscaling|ec2|elasticfilesystem|firehose|kinesis|s3files):/,
  /^s3:REST/,
  /^cloudwatch:PutMetricData$/,
  /^dynamodb:(BatchWriteItem|DeleteItem|GetItem|PutItem|Query|Scan|UpdateItem)$/,
  /^dynamodb:(.*Kinesis.*|(Put|Delete)ResourcePolicy|UpdateTableReplicaAutoScaling)$/,
  /^iam:(.*(Group|User)Policy|(Attach|Detach)RolePolicy|.*PermissionsBoundary)$/,
  /^kms:(CreateGrant|RevokeGrant|Encrypt|Decrypt|GenerateDataKey|ListAliases)$/,
  /^lambda:.*(CodeSigning|Layer|Scaling|CapacityProvider|ProvisionedConcurrency|RuntimeAlias)/,
  /^logs:.*(DataProtection|IndexPolic|BearerToken|DeletionProtection|KmsKey)/,
  /^sns:.*DataProtection/,
  /^codedeploy:.*OnPremises/,
];

/** The longest managed policy that IAM takes, in characters without white space (IAM User Guide, "Quotas"). */
const managedPolicyLimit = 6_144;

/** Defines the tests of the rights that CloudFormation needs, by AWS's schemas of the resource types in cfn-lint. */
export function testRights(): void {
  it('has every action that AWS says the resource types of the stack need', () => {
    const { Resources } = Template.fromStack(stackOf(undefined, allOptions)).toJSON() as Resources;
    // CloudFormation itself invokes the function of a custom resource, which has no schema.
    const types = new Set(Object.values(Resources).flatMap(({ Type }) => (Type.startsWith('Custom::') ? [] : [Type])));
    const schemas = schemasOfAws().filter(({ typeName }) => types.has(typeName));
    expect(schemas.map(({ typeName }) => typeName).sort()).toEqual([...types].sort());
    const needed = schemas
      .flatMap(({ handlers = {}, tagging }) => [
        ...Object.values(handlers).flatMap(({ permissions = [] }) => permissions),
        ...(tagging?.permissions ?? []),
      ])
      .filter((action) => !unused.some((pattern) => pattern.test(action)))
      .map((action) => action.toLowerCase());
    const given = new Set(policy.Statement.flatMap(({ Action }) => Action).map((action) => action.toLowerCase()));
    expect([...new Set(needed), 'lambda:invokefunction'].filter((action) => !given.has(action)).sort()).toEqual([]);
  });

  it('is short enough for one managed policy', () => {
    expect(JSON.stringify(policy).length).toBeLessThanOrEqual(managedPolicyLimit);
  });
}

function schemasOfAws(): Schema[] {
  const { DEPLOY_PROGRAMS = '' } = process.env;
  const libraries = join(DEPLOY_PROGRAMS, '..', 'lib');
  const [python = ''] = readdirSync(libraries);
  const folder = join(libraries, python, 'site-packages', 'cfnlint', 'data', 'schemas', 'resources');
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Schema);
}
