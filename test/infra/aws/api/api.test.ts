import { describe, expect, it } from 'vitest';
import { functionNamePattern } from '../../../../infra/aws/api/invoker-role.ts';
import { requestBuckets } from '../../../../infra/aws/data/table.ts';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import type { Endpoint } from '../../../../lib/contract/endpoint.ts';
import { functionNameOf, routes } from '../../../../lib/contract/routes.ts';
import { everythingBefore } from '../../../../scripts/bursts.ts';
import { synthesized } from '../synthesized.ts';

const { template, resources, propertiesOf, logicalId, functionOf, statementsByRole, statementsOf } = synthesized();
const integrations = resources('AWS::ApiGatewayV2::Integration');
const versions = resources('AWS::Lambda::Version');
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));

/** The key and the target of each route. */
const targets = propertiesOf('AWS::ApiGatewayV2::Route').map(({ RouteKey, Target }) => ({
  key: RouteKey,
  target: integrations[Target['Fn::Join'][1][1].Ref]?.Properties,
}));

/** The routes of an endpoint: those without a token also have `HEAD`. */
const routeKeysOf = ({ method, path, scope }: Endpoint) =>
  (scope ? [method] : [method, 'HEAD']).map((one) => `${one} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
const rows = routes.map(([operation, row]) => ({ row, id: constructIdOf(functionNameOf(operation, row)) }));

describe('the API', () => {
  it('has a route for each endpoint, and $default for all other requests, to functions with payload 2.0', () => {
    const functionsOf = rows.flatMap(({ id, row }) => routeKeysOf(row).map((key) => [key, logicalId(id)]));
    const found = targets.map(({ key, target }) => [
      key,
      versions[target.IntegrationUri.Ref]?.Properties.FunctionName.Ref,
    ]);
    expect(found.sort()).toEqual([['$default', logicalId('Unmatched')], ...functionsOf].sort());
    for (const { target } of targets) expect(target.PayloadFormatVersion).toBe('2.0');
  });

  it('invokes its functions by one role, which only API Gateway may assume and which has no other right', () => {
    const roles = targets.map(({ target }): string => target.CredentialsArn['Fn::GetAtt'][0]);
    const [role = '', ...others] = new Set(roles);
    expect(others).toEqual([]);
    expect(resources('AWS::IAM::Role')[role]?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
    const region = [{ Ref: 'AWS::Region' }, ':', { Ref: 'AWS::AccountId' }];
    const functions = ['arn:', { Ref: 'AWS::Partition' }, ':lambda:', ...region, ':function:Crewboard-Api*'];
    expect(statementsByRole.get(role)).toEqual([
      { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: { 'Fn::Join': ['', functions] } },
    ]);
    template.resourcePropertiesCountIs('AWS::Lambda::Permission', { Principal: 'apigateway.amazonaws.com' }, 0);
  });

  it('moves requests to new versions after all of them are published', () => {
    expect(Object.keys(versions)).toHaveLength(Object.keys(integrations).length);
    const before = everythingBefore(template.toJSON().Resources);
    for (const id of Object.keys(integrations))
      expect([...(before.get(id) ?? [])]).toEqual(expect.arrayContaining(Object.keys(versions)));
  });

  it('names the functions of its own stack only by the pattern in the right to invoke them', () => {
    expect(logicalId('CreateTask')).toMatch(/^Api/);
    const isInvoked = (stackName: string, name: string) =>
      new RegExp(`^${functionNamePattern(stackName).replaceAll('*', '.*')}$`).test(name);
    expect(isInvoked('Crewboard', 'Crewboard-ApiCreateTask0A1B2C3D-AbCdEfGhIjKl')).toBe(true);
    expect(isInvoked('Crewboard', 'Crewboard-PipelineDeliverWebhook0A1B2C3D-AbCdEfGhIjKl')).toBe(false);
    expect(isInvoked('Crewboard', 'Crewboard-prod-ApiCreateTask0A1B2C3D-AbCdEfGhIjKl')).toBe(false);
    // CloudFormation keeps 24 characters or more of the name of a stack.
    const long = 'CrewboardEphemeral-production-of-europe';
    for (const kept of [24, 25, long.length])
      expect(isInvoked(long, `${long.slice(0, kept)}-ApiGetExecutionMetrics0A-1GRP3N0TVA1LD`)).toBe(true);
  });

  it.each(rows.filter(({ row }) => row.scope && row.method === 'GET'))(
    'lets $id write nothing but counts of requests',
    ({ id }) => {
      expect(statementsOf(id).filter(({ Action }) => Action === 'dynamodb:UpdateItem')).toMatchObject([
        { Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [requestBuckets] } } },
      ]);
    },
  );

  it.each(rows)(
    'gives $id the name of the table, if it reads it, and a timeout below that of API Gateway',
    ({ id, row }) => {
      const { Environment, Timeout } = functionOf(id);
      const name = row.scope || row.offersTools || row.checksTable ? { Ref: table } : undefined;
      expect(Environment.Variables.NODE_OPTIONS).toBe('--enable-source-maps');
      expect(Environment.Variables.TABLE_NAME).toEqual(name);
      expect(Timeout).toBeLessThan(30);
    },
  );
});

const throttle = (ThrottlingRateLimit: number, ThrottlingBurstLimit: number) => ({
  ...{ ThrottlingRateLimit, ThrottlingBurstLimit },
});
const own = {
  ...{ callsOutThrottleRate: 1, callsOutThrottleBurst: 2, executionThrottleRate: 3, executionThrottleBurst: 4 },
};

it.each([
  ['by default', {}, throttle(50, 100), throttle(20, 40)],
  ['with the values of the settings', own, throttle(1, 2), throttle(3, 4)],
])(
  'the throttle of a route exists %s for test, self-improve, execute, delegate and rerun only',
  (_, settings, callsOut, starts) => {
    const stack = synthesized(settings).template;
    const [[id = '', stage] = []] = Object.entries(stack.findResources('AWS::ApiGatewayV2::Stage'));
    const throttled = {
      'POST /api/agents/{name}/execute': starts,
      'POST /api/agents/{name}/delegate': starts,
      'POST /api/agents/{name}/executions/{id}/rerun': starts,
      'POST /api/agents/{name}/self-improve': callsOut,
      'POST /api/webhooks/{id}/test': callsOut,
    };
    expect(stage?.Properties.RouteSettings).toEqual(throttled);
    // API Gateway rejects settings of an unknown route.
    const before = everythingBefore(stack.toJSON().Resources).get(id);
    for (const route of Object.keys(stack.findResources('AWS::ApiGatewayV2::Route'))) expect(before).toContain(route);
  },
);
