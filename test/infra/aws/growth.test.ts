import { Template } from 'aws-cdk-lib/assertions';
import { expect, it, onTestFinished } from 'vitest';
import { functionSources } from '../../../infra/aws/bundle.ts';
import { type Endpoint, endpoint } from '../../../lib/contract/endpoint.ts';
import { routes } from '../../../lib/contract/routes.ts';
import { allOptions } from './all-options.ts';
import { stackOf } from './synthesized.ts';

/** The limit of resources in one stack (AWS CloudFormation User Guide, "Quotas"). */
const resourcesLimit = 500;

/** The limit of the inline policies of one role, in characters without white space (IAM User Guide, "Quotas"). */
const inlinePoliciesLimit = 10_240;

/** The number of additional endpoints for which the stack must have room. */
const more = 15;

type Resources = Record<string, { Type: string; Properties: { Policies?: { PolicyDocument: object }[] } }>;

const added = Array.from({ length: more }, (_, nth) => {
  const path = `/api/kanban-tasks/:id/added-${nth}` as const;
  const row = endpoint({ method: 'POST', path, summary: 'Added', scope: 'tasks:write', status: 200 });
  return [`added${nth}`, row] as const;
});

it('the template has room for 15 more endpoints with every option, and with the longest names in its inline policies', () => {
  const list = routes as unknown as (readonly [string, Endpoint])[];
  list.push(...added);
  onTestFinished(() => void list.splice(-more));
  const sources = added.map(([operation]) => `functions/kanban-tasks/${operation}.ts`);
  const template = Template.fromStack(stackOf([...functionSources(), ...sources], allOptions)).toJSON();
  const resources = Object.values(template.Resources as Resources);
  expect(resources.length).toBeLessThanOrEqual(resourcesLimit);
  const roles = resources.filter(({ Type }) => Type === 'AWS::IAM::Role');
  const lengths = roles.map(({ Properties: { Policies = [] } }) =>
    Policies.reduce((length, { PolicyDocument }) => length + JSON.stringify(PolicyDocument, longest).length, 0),
  );
  expect(Math.max(...lengths)).toBeGreaterThan(0);
  expect(Math.max(...lengths)).toBeLessThan(inlinePoliciesLimit);
});

/** Replaces a reference of CloudFormation by the longest possible ARN, that of a function with a name of 64 characters. */
function longest(_: string, value: unknown): unknown {
  const isReference =
    typeof value === 'object' && value !== null && Object.keys(value).some((key) => /^(Fn::|Ref$)/.test(key));
  return isReference ? `arn:aws-us-gov:lambda:ap-southeast-1:123456789012:function:${'x'.repeat(64)}:live` : value;
}
