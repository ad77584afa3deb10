import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { requestBuckets } from '../../../../infra/aws/data/table.ts';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import type { Endpoint } from '../../../../lib/contract/endpoint.ts';
import { routes } from '../../../../lib/contract/routes.ts';
import { stackOf, synthesized } from '../synthesized.ts';

type Route = { RouteKey: string; Target: { 'Fn::Join': [string, [string, { Ref: string }]] } };
type Integration = {
  IntegrationUri: { 'Fn::GetAtt': [string, string] };
  PayloadFormatVersion: string;
  CredentialsArn?: { 'Fn::GetAtt': [string, 'Arn'] };
};
type AssumableRole = { AssumeRolePolicyDocument: { Statement: object[] } };

const { template, resources, logicalId, functionOf, statementsByRole, statementsOf } = synthesized();
const integrations = resources<Integration>('AWS::ApiGatewayV2::Integration');
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));

/** The target of each route. */
const targets = Object.fromEntries(
  Object.values(resources<Route>('AWS::ApiGatewayV2::Route')).map(({ Properties: { RouteKey, Target } }) => [
    RouteKey,
    integrations[Target['Fn::Join'][1][1].Ref]?.Properties,
  ]),
);

const routeKeyOf = ({ method, path }: Endpoint) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
const rows = routes.map(([operation, row]) => ({
  row,
  id: constructIdOf(operation),
}));

describe('the API', () => {
  it('has a route for each endpoint, and $default for all other requests, to functions with payload 2.0', () => {
    const functionsOf = rows.map(({ id, row }) => [routeKeyOf(row), logicalId(id)]);
    const found = Object.entries(targets).map(([key, target]) => [key, target?.IntegrationUri['Fn::GetAtt'][0]]);
    expect(found.sort()).toEqual([['$default', logicalId('Unmatched')], ...functionsOf].sort());
    for (const target of Object.values(targets)) expect(target?.PayloadFormatVersion).toBe('2.0');
  });

  it('invokes its functions by one role, which only API Gateway may assume and which has no other right', () => {
    const [role = '', ...others] = new Set(
      Object.values(targets).map((target) => target?.CredentialsArn?.['Fn::GetAtt'][0] ?? ''),
    );
    expect(others).toEqual([]);
    expect(resources<AssumableRole>('AWS::IAM::Role')[role]?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
    const invoked = ['Unmatched', ...rows.map(({ id }) => id)].map((id) => ({ 'Fn::GetAtt': [logicalId(id), 'Arn'] }));
    const statements = statementsByRole.get(role);
    expect(statements).toEqual([{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: expect.anything() }]);
    expect(new Set([statements?.[0]?.Resource].flat())).toEqual(new Set(invoked));
    template.resourcePropertiesCountIs('AWS::Lambda::Permission', { Principal: 'apigateway.amazonaws.com' }, 0);
  });

  it.each(rows.filter(({ row }) => row.scope && row.method === 'GET'))(
    'lets $id write nothing but counts of requests',
    ({ id }) => {
      expect(statementsOf(id).filter(({ Action }) => Action === 'dynamodb:UpdateItem')).toMatchObject([
        { Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [requestBuckets] } } },
      ]);
    },
  );

  it.each(rows)('gives $id the name of the table, and a timeout below that of API Gateway', ({ id }) => {
    const { Environment, Timeout } = functionOf(id);
    expect(Environment.Variables).toMatchObject({ NODE_OPTIONS: '--enable-source-maps', TABLE_NAME: { Ref: table } });
    expect(Timeout).toBeLessThan(30);
  });
});

describe('the throttle of a route', () => {
  type Stage = { DependsOn?: string[]; Properties: { RouteSettings: Record<string, object> } };
  const throttle = (ThrottlingRateLimit: number, ThrottlingBurstLimit: number) => ({
    ...{ ThrottlingRateLimit, ThrottlingBurstLimit },
  });

  it.each([
    ['by default', {}, throttle(5, 10), throttle(20, 40)],
    [
      'with the values of the settings',
      {
        ...{ callsOutThrottleRate: 1, callsOutThrottleBurst: 2 },
        ...{ executionThrottleRate: 3, executionThrottleBurst: 4 },
      },
      throttle(1, 2),
      throttle(3, 4),
    ],
  ])('exists %s for test, self-improve, execute and delegate only', (_, settings, callsOut, starts) => {
    const stack = Template.fromStack(stackOf(undefined, settings));
    const [stage] = Object.values(stack.findResources('AWS::ApiGatewayV2::Stage')) as Stage[];
    const throttled = {
      'POST /api/agents/{name}/execute': starts,
      'POST /api/agents/{name}/delegate': starts,
      'POST /api/agents/{name}/self-improve': callsOut,
      'POST /api/webhooks/{id}/test': callsOut,
    };
    expect(stage?.Properties.RouteSettings).toEqual(throttled);
    // API Gateway rejects settings of an unknown route.
    for (const RouteKey of Object.keys(throttled))
      expect(stage?.DependsOn).toEqual(
        expect.arrayContaining(
          Object.keys(stack.findResources('AWS::ApiGatewayV2::Route', { Properties: { RouteKey } })),
        ),
      );
  });
});
