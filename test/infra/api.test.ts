import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { routes } from '../../lib/contract/endpoints.ts';
import { actionsOn, reads, synthesized, writes } from './synthesized.ts';

type Route = { RouteKey: string; Target: { 'Fn::Join': [string, [string, { Ref: string }]] } };
type Integration = {
  IntegrationUri: { 'Fn::GetAtt': [string, string] };
  PayloadFormatVersion: string;
  CredentialsArn?: { 'Fn::GetAtt': [string, 'Arn'] };
};
type AssumableRole = { AssumeRolePolicyDocument: { Statement: object[] } };

const { template, resources, logicalId, functionOf, statementsByRole, statementsOf, allowedTo } = synthesized();
const integrations = resources<Integration>('AWS::ApiGatewayV2::Integration');
const [table = ''] = Object.keys(resources('AWS::DynamoDB::GlobalTable'));

/** Where each route leads. */
const targets = Object.fromEntries(
  Object.values(resources<Route>('AWS::ApiGatewayV2::Route')).map(({ Properties: { RouteKey, Target } }) => [
    RouteKey,
    integrations[Target['Fn::Join'][1][1].Ref]?.Properties,
  ]),
);

const routeKeyOf = ({ method, path }: Endpoint) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`;
const rows = routes.map(([operation, row]) => ({
  row,
  id: operation.replace(/^./, (letter) => letter.toUpperCase()),
}));
const guarded = rows.filter(({ row }) => row.scope);

describe('the API', () => {
  it('has one route for each row of the contract, and $default for all else', () => {
    expect(Object.keys(targets).sort()).toEqual(['$default', ...rows.map(({ row }) => routeKeyOf(row))].sort());
  });

  it('writes the parameters of a path as API Gateway does', () => {
    expect(Object.keys(targets)).toContain('GET /api/kanban-tasks/{id}');
  });

  it.each(rows)('sends what is for $id to its function, as payload 2.0', ({ id, row }) => {
    const target = targets[routeKeyOf(row)];
    expect(target?.IntegrationUri['Fn::GetAtt'][0]).toBe(logicalId(id));
    expect(target?.PayloadFormatVersion).toBe('2.0');
  });

  it('sends what no row serves to the function that answers 404 and 405', () => {
    expect(targets.$default?.IntegrationUri['Fn::GetAtt'][0]).toBe(logicalId('Unmatched'));
  });

  it('invokes its functions by one role, which API Gateway alone may assume and which may do nothing else', () => {
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

  it.each(guarded.filter(({ row }) => row.method === 'GET'))('lets $id read the table and write nothing', ({ id }) => {
    expect(allowedTo(id, 'dynamodb')).toEqual(actionsOn(table, reads));
  });

  it.each(guarded.filter(({ row }) => row.method !== 'GET'))('lets $id read and write the table', ({ id }) => {
    expect(allowedTo(id, 'dynamodb')).toEqual(actionsOn(table, [...reads, ...writes]));
  });

  it.each(['Unmatched', ...rows.filter(({ row }) => !row.scope).map(({ id }) => id)])(
    'lets %s, which asks for no token, write its log and nothing else',
    (id) => {
      expect(statementsOf(id).flatMap(({ Action }) => Action)).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
    },
  );

  it.each(rows)('tells $id the table, lets it reach no queue, and ends it before API Gateway gives up', ({ id }) => {
    const { Environment, Timeout } = functionOf(id);
    expect(Environment.Variables).toMatchObject({ NODE_OPTIONS: '--enable-source-maps', TABLE_NAME: { Ref: table } });
    expect(allowedTo(id, 'sqs')).toEqual([]);
    expect(Timeout).toBeLessThan(30);
  });
});
