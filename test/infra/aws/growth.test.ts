import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it, vi } from 'vitest';
import { functionSources } from '../../../infra/aws/bundle.ts';
import { type Endpoint, endpoint } from '../../../lib/contract/endpoint.ts';
import { routes } from '../../../lib/contract/routes.ts';
import { allOptions } from './all-options.ts';
import { stackOf } from './synthesized.ts';

vi.mock('../../../lib/contract/routes.ts', async (original) => {
  const { routes, ...others } = await original<typeof import('../../../lib/contract/routes.ts')>();
  return { ...others, routes: [...routes] };
});

/** The limit of resources in one stack (AWS CloudFormation User Guide, "Quotas"). */
const resourcesLimit = 500;

/** The limit of the inline policies of one role, in characters without white space (IAM User Guide, "Quotas"). */
const inlinePoliciesLimit = 10_240;

/** The number of additional endpoints for which the stack must have room. */
const more = 25;

type Resources = Record<string, { Type: string; Properties: { Policies?: { PolicyDocument: object }[] } }>;

const added = Array.from({ length: more }, (_, nth) => {
  const path = `/api/kanban-tasks/:id/added-${nth}` as const;
  const row = endpoint({ method: 'POST', path, summary: 'Added', scope: 'tasks:write', status: 200 });
  return [`added${nth}`, row] as const;
});

/** Returns the resources of a stack with these additional endpoints. */
function resourcesWith(rows: readonly (readonly [string, Endpoint])[], context: Record<string, unknown>): Resources {
  const list = routes as unknown as (readonly [string, Endpoint])[];
  const sources = rows.map(([operation]) => `functions/kanban-tasks/${operation}.ts`);
  list.push(...rows);
  try {
    return Template.fromStack(stackOf([...functionSources(), ...sources], context)).toJSON().Resources;
  } finally {
    list.splice(list.length - rows.length);
  }
}

describe('the template', () => {
  it('has three resources for each endpoint: function, integration and route', () => {
    const before = resourcesWith([], {});
    const after = resourcesWith(added.slice(0, 1), {});
    const types = Object.entries(after).flatMap(([id, { Type }]) => (id in before ? [] : [Type]));
    expect(types.sort()).toEqual([
      'AWS::ApiGatewayV2::Integration',
      'AWS::ApiGatewayV2::Route',
      'AWS::Lambda::Function',
    ]);
  });

  it('has room for 25 more endpoints with every option, and with the longest names in its inline policies', () => {
    const resources = Object.values(resourcesWith(added, allOptions));
    expect(resources.length).toBeLessThanOrEqual(resourcesLimit);
    const roles = resources.filter(({ Type }) => Type === 'AWS::IAM::Role');
    const lengths = roles.map(({ Properties: { Policies = [] } }) =>
      Policies.reduce((length, { PolicyDocument }) => length + JSON.stringify(PolicyDocument, longest).length, 0),
    );
    expect(Math.max(...lengths)).toBeGreaterThan(0);
    expect(Math.max(...lengths)).toBeLessThan(inlinePoliciesLimit);
  });
});

/** Replaces a reference of CloudFormation by the longest possible ARN, that of a function with a name of 64 characters. */
function longest(_: string, value: unknown): unknown {
  const isReference =
    typeof value === 'object' && value !== null && Object.keys(value).some((key) => /^(Fn::|Ref$)/.test(key));
  return isReference ? `arn:aws-us-gov:lambda:ap-southeast-1:123456789012:function:${'x'.repeat(64)}:live` : value;
}
