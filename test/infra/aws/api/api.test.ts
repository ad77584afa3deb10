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
  it('has a route for each endpoint, and $default for all other requests', () => {
    expect(Object.keys(targets).sort()).toEqual(['$default', ...rows.map(({ row }) => routeKeyOf(row))].sort());
  });

  it.each(rows)('sends requests for $id to its function, with payload 2.0', ({ id, row }) => {
    const target = targets[routeKeyOf(row)];
    expect(target?.IntegrationUri['Fn::GetAtt'][0]).toBe(logicalId(id));
    expect(target?.PayloadFormatVersion).toBe('2.0');
  });

  it('sends requests that match no route to the function that answers 404 and 405', () => {
    expect(targets.$default?.IntegrationUri['Fn::GetAtt'][0]).toBe(logicalId('Unmatched'));
  });

  it('invokes its functions by one role, which only API Gateway may assume and which has no other right', () => {
    const roles = new Set(Object.values(targets).map((target) => target?.CredentialsArn?.['Fn::GetAtt'][0]));
    expect(roles.size).toBe(1);
    const [role = ''] = roles as Set<string>;
    expect(resources<AssumableRole>('AWS::IAM::Role')[role]?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
    const invoked = ['Unmatched', ...rows.map(({ id }) => id)].map((id) => ({ 'Fn::GetAtt': [logicalId(id), 'Arn'] }));
    const statements = statementsByRole.get(role);
    expect(statements).toEqual([{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: expect.anything() }]);
    const [{ Resource } = { Resource: [] }] = statements ?? [];
    expect(new Set([Resource].flat())).toEqual(new Set(invoked));
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
  type Stage = { RouteSettings: Record<string, object>; DefaultRouteSettings: object };
  type Resource = { DependsOn?: string[]; Properties: Stage };
  const stageOf = (context: Record<string, unknown> = {}) => {
    const stack = Template.fromStack(stackOf(undefined, context));
    const [stage] = Object.values(stack.findResources('AWS::ApiGatewayV2::Stage')) as [Resource];
    return { stage, routesOf: stack.findResources('AWS::ApiGatewayV2::Route') };
  };

  it('exists for test, self-improve, execute and delegate only', () => {
    const callsOut = { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 };
    const starts = { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 };
    expect(stageOf().stage.Properties.RouteSettings).toEqual({
      'POST /api/agents/{name}/execute': starts,
      'POST /api/agents/{name}/delegate': starts,
      'POST /api/agents/{name}/self-improve': callsOut,
      'POST /api/webhooks/{id}/test': callsOut,
    });
  });

  it('has the values of the settings', () => {
    const context = {
      ...{ callsOutThrottleRate: 1, callsOutThrottleBurst: 2 },
      ...{ executionThrottleRate: 3, executionThrottleBurst: 4 },
    };
    const { RouteSettings } = stageOf(context).stage.Properties;
    expect(RouteSettings['POST /api/webhooks/{id}/test']).toEqual({ ThrottlingRateLimit: 1, ThrottlingBurstLimit: 2 });
    expect(RouteSettings['POST /api/agents/{name}/execute']).toEqual({
      ...{ ThrottlingRateLimit: 3, ThrottlingBurstLimit: 4 },
    });
  });

  it('depends on its route, because API Gateway rejects settings of an unknown route', () => {
    const { stage, routesOf } = stageOf();
    for (const routeKey of Object.keys(stage.Properties.RouteSettings)) {
      const [id] = Object.entries(routesOf).find(([, { Properties }]) => Properties.RouteKey === routeKey) ?? [];
      expect(stage.DependsOn).toContain(id);
    }
  });
});
