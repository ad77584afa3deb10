import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import policy from '../../../docs/rights/cloudformation.json' with { type: 'json' };
import { allOptions } from '../../infra/aws/all-options.ts';
import { stackOf } from '../../infra/aws/synthesized.ts';
import { isCovered } from '../../rights.ts';

/** AWS's schema of a resource type: the actions that CloudFormation calls to create, read, update and delete it. */
type Schema = {
  typeName: string;
  handlers?: Record<string, { permissions?: string[] }>;
  tagging?: { permissions?: string[] };
};

type Resources = { Resources: Record<string, { Type: string }> };

/** The name of an action of IAM. The schema of log groups also has `s3:REST.PUT.OBJECT`, the name of an entry of S3's log. */
const actionName = /^[\w-]+:[\w*]+$/;

/** Defines the tests of the rights that CloudFormation needs, by AWS's schemas of the resource types in cfn-lint. */
export function testRights(): void {
  it('allows or denies by name every action that AWS names for the resource types of all options', () => {
    const needed = schemasOfStack().flatMap(({ handlers = {}, tagging }) => [
      ...Object.values(handlers).flatMap(({ permissions = [] }) => permissions),
      ...(tagging?.permissions ?? []),
    ]);
    const undecided = needed.filter(
      (action) => actionName.test(action) && !isIn(action, 'Allow') && !isIn(action, 'Deny'),
    );
    // CloudFormation itself invokes the function of a custom resource, which has no schema.
    if (!isIn('lambda:InvokeFunction', 'Allow')) undecided.push('lambda:InvokeFunction');
    expect([...new Set(undecided)]).toEqual([]);
  });

  it('denies no action by which CloudFormation reads a resource, which it does for each', () => {
    const reading = schemasOfStack().flatMap(({ handlers }) => handlers?.read?.permissions ?? []);
    expect(reading.filter((action) => isIn(action, 'Deny'))).toEqual([]);
  });
}

/** Returns whether the statements of the policy with an effect cover an action. */
function isIn(action: string, effect: 'Allow' | 'Deny'): boolean {
  return policy.Statement.some(({ Effect, Action }) => Effect === effect && isCovered(action, [Action].flat()));
}

function schemasOfStack(): Schema[] {
  const { Resources } = Template.fromStack(stackOf(undefined, allOptions)).toJSON() as Resources;
  const types = new Set(Object.values(Resources).flatMap(({ Type }) => (Type.startsWith('Custom::') ? [] : [Type])));
  const schemas = schemasOfAws().filter(({ typeName }) => types.has(typeName));
  expect(schemas.map(({ typeName }) => typeName).sort()).toEqual([...types].sort());
  return schemas;
}

function schemasOfAws(): Schema[] {
  const { DEPLOY_PROGRAMS = '' } = process.env;
  const libraries = join(DEPLOY_PROGRAMS, '..', 'lib');
  const [python = ''] = readdirSync(libraries);
  const folder = join(libraries, python, 'site-packages', 'cfnlint', 'data', 'schemas', 'resources');
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Schema);
}
