import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it, vi } from 'vitest';
import { functionSources } from '../../../infra/aws/bundle.ts';
import { type Endpoint, endpoint } from '../../../lib/contract/endpoint.ts';
import { routes } from '../../../lib/contract/routes.ts';
import { everything } from './all-options.ts';
import { stackOf } from './synthesized.ts';

vi.mock('../../../lib/contract/routes.ts', async (original) => {
  const { routes, ...others } = await original<typeof import('../../../lib/contract/routes.ts')>();
  return { ...others, routes: [...routes] };
});

/** What CloudFormation takes of one stack (AWS CloudFormation User Guide, "Quotas"). */
const resourcesLimit = 500;

/** What IAM takes of the inline policies of one role, in characters without white space (IAM User Guide, "Quotas"). */
const inlinePoliciesLimit = 10_240;

/** How many endpoints the stack has to have room for. */
const more = 25;

type Resources = Record<string, { Type: string; Properties: { Policies?: { PolicyDocument: object }[] } }>;

const added = Array.from({ length: more }, (_, nth) => {
  const path = `/api/kanban-tasks/:id/added-${nth}` as const;
  const row = endpoint({ method: 'POST', path, summary: 'Added', scope: 'tasks:write', status: 200 });
  return [`added${nth}`, row] as const;
});

/** The resources of a stack that has these endpoints beside those of the contract. */
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

const countWith = (...args: Parameters<typeof resourcesWith>) => Object.keys(resourcesWith(...args)).length;

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

  it('has at most five resources for each endpoint, and room for 25 endpoints more', () => {
    const each = (countWith(added, {}) - countWith([], {})) / more;
    expect(each).toBeLessThanOrEqual(5);
    expect(resourcesLimit - countWith([], {})).toBeGreaterThanOrEqual(more * 5);
  });

  it('has room for 25 endpoints more with every optional part', () => {
    expect(countWith(added, everything)).toBeLessThanOrEqual(resourcesLimit);
  });

  it('has no inline policy that is too long for IAM with 25 endpoints more and the longest names', () => {
    const policies = Object.values(resourcesWith(added, everything)).flatMap(({ Type, Properties }) =>
      Type === 'AWS::IAM::Role' ? [Properties.Policies ?? []] : [],
    );
    const lengths = policies.map((ofRole) =>
      ofRole.reduce((length, { PolicyDocument }) => length + JSON.stringify(PolicyDocument, longest).length, 0),
    );
    expect(lengths.length).toBeGreaterThan(0);
    expect(Math.max(...lengths)).toBeLessThan(inlinePoliciesLimit);
  });
});

/** Replaces a reference of CloudFormation by an ARN that is as long as one can be: that of a function of 64 characters. */
function longest(_: string, value: unknown): unknown {
  const isReference =
    typeof value === 'object' && value !== null && Object.keys(value).some((key) => /^(Fn::|Ref$)/.test(key));
  return isReference ? `arn:aws-us-gov:lambda:ap-southeast-1:123456789012:function:${'x'.repeat(64)}:live` : value;
}
