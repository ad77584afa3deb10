import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import { routes } from '../../../../lib/contract/routes.ts';
import { allOptions } from '../all-options.ts';
import { stackOf, synthesized } from '../synthesized.ts';

const { customDomain, canary, reservedConcurrency, openTelemetry } = allOptions;

/** The template of a stack without options, as text. */
const plain = JSON.stringify(Template.fromStack(stackOf()).toJSON());

describe('a stack without options', () => {
  it.each([
    ...['ApiGatewayV2::DomainName', 'ApiGatewayV2::ApiMapping', 'DisableExecuteApiEndpoint'],
    ...['AWS::CodeDeploy', 'codedeploy', 'AWS::Lambda::Alias', 'AWS::Lambda::Version'],
    ...['ReservedConcurrentExecutions', 'TracingConfig', 'Layers', 'OTEL_', 'AWS_LAMBDA_EXEC_WRAPPER', 'xray:'],
    'CorsConfiguration',
  ])('does not contain %s', (word) => {
    expect(plain).not.toContain(word);
  });
});

describe('a custom domain', () => {
  const { template } = synthesized({ customDomain: { ...customDomain, disableExecuteApiEndpoint: false } });
  const { template: alone } = synthesized({ customDomain });

  it('has the certificate and TLS 1.2, and maps to the stage of the API', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', {
      DomainName: 'api.example.com',
      DomainNameConfigurations: [
        { CertificateArn: customDomain.certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
      ],
    });
    const [api = ''] = Object.keys(template.findResources('AWS::ApiGatewayV2::Api'));
    template.hasResourceProperties('AWS::ApiGatewayV2::ApiMapping', { ApiId: { Ref: api }, Stage: '$default' });
  });

  it('is the URL of the stack, whose outputs name the target of the DNS record', () => {
    template.hasOutput('Url', { Value: 'https://api.example.com' });
    const [name = ''] = Object.keys(template.findResources('AWS::ApiGatewayV2::DomainName'));
    template.hasOutput('DomainTarget', { Value: { 'Fn::GetAtt': [name, 'RegionalDomainName'] } });
    template.hasOutput('DomainTargetZone', { Value: { 'Fn::GetAtt': [name, 'RegionalHostedZoneId'] } });
  });

  it('keeps the URL of API Gateway until the settings disable it', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: Match.absent() });
    alone.hasResourceProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: true });
    alone.hasOutput('Url', { Value: 'https://api.example.com' });
  });
});

describe('a canary', () => {
  const { template, resources, logicalId, statementsByRole } = synthesized({ canary });
  type Alias = { FunctionName: { Ref: string }; Name: string };
  type Integration = { IntegrationUri: { Ref?: string }; CredentialsArn: { 'Fn::GetAtt': [string, 'Arn'] } };
  type Group = { ServiceRoleArn: { 'Fn::GetAtt': [string, 'Arn'] } };
  type Updated = { UpdatePolicy?: { CodeDeployLambdaAliasUpdate: { DeploymentGroupName: { Ref: string } } } };
  const aliases = resources<Alias>('AWS::Lambda::Alias');
  const groups = resources<Group>('AWS::CodeDeploy::DeploymentGroup');
  const integrations = Object.values(resources<Integration>('AWS::ApiGatewayV2::Integration'));
  const ofApi = ['Unmatched', ...routes.map(([operation]) => constructIdOf(operation))];
  const resourcesOf = (role: string, at = 0) => new Set([statementsByRole.get(role)?.[at]?.Resource].flat());

  it('lets every route invoke the alias of its function', () => {
    const aliased = Object.values(aliases).map(({ Properties }) => [Properties.Name, Properties.FunctionName.Ref]);
    expect(aliased.sort()).toEqual(ofApi.map((id) => ['live', logicalId(id)]).sort());
    const invoked = integrations.map(({ Properties }) => Properties.IntegrationUri.Ref);
    expect(invoked.sort()).toEqual(Object.keys(aliases).sort());
    template.resourceCountIs('AWS::Lambda::Version', ofApi.length);
  });

  it('lets API Gateway invoke the aliases only, by another role', () => {
    const role = integrations[0]?.Properties.CredentialsArn['Fn::GetAtt'][0] as string;
    expect(Object.keys(synthesized().resources('AWS::IAM::Role'))).not.toContain(role);
    expect(resourcesOf(role)).toEqual(new Set(Object.keys(aliases).map((Ref) => ({ Ref }))));
  });

  it('moves the traffic of each alias in steps, and back if an alarm of the API is raised', () => {
    template.resourceCountIs('AWS::CodeDeploy::Application', 1);
    template.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', ofApi.length);
    const alarms = ['api-errors', 'api-latency'].map((name) => {
      const found = template.findResources('AWS::CloudWatch::Alarm', {
        Properties: { AlarmName: `Crewboard ${name}` },
      });
      return { Name: { Ref: Object.keys(found)[0] } };
    });
    template.allResourcesProperties('AWS::CodeDeploy::DeploymentGroup', {
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent15Minutes',
      AlarmConfiguration: { Enabled: true, Alarms: alarms },
      AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
    });
    const updated = Object.values(aliases as Record<string, Updated>).map(
      ({ UpdatePolicy }) => UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
    );
    expect(updated.sort()).toEqual(Object.keys(groups).sort());
  });

  it('lets CodeDeploy change the aliases of the API’s functions only', () => {
    const [role = '', ...others] = new Set(
      Object.values(groups).map(({ Properties }) => Properties.ServiceRoleArn['Fn::GetAtt'][0]),
    );
    expect([others, statementsByRole.get(role)?.map(({ Action }) => Action)]).toEqual([
      [],
      [
        ['lambda:GetAlias', 'lambda:UpdateAlias'],
        ['cloudwatch:DescribeAlarms', 'lambda:GetProvisionedConcurrencyConfig'],
      ],
    ]);
    expect(resourcesOf(role)).toEqual(new Set(ofApi.map((id) => ({ 'Fn::GetAtt': [logicalId(id), 'Arn'] }))));
    template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  });
});

describe('reserved concurrency', () => {
  it('is set for the functions of the settings only', () => {
    const { functionOf, resources } = synthesized({ reservedConcurrency });
    type Reserved = { ReservedConcurrentExecutions?: number };
    const reserved = Object.values(resources<Reserved>('AWS::Lambda::Function')).flatMap(
      ({ Properties }) => Properties.ReservedConcurrentExecutions ?? [],
    );
    expect(reserved.sort()).toEqual([20, 700]);
    expect(functionOf('CreateTask')).toMatchObject({ ReservedConcurrentExecutions: 20 });
    expect(functionOf('DeliverWebhook')).toMatchObject({ ReservedConcurrentExecutions: 700 });
  });

  it.each([
    [{ reservedConcurrency: { deliverWebhook: 639 } }, /deliverWebhook must be at least 640/],
    [{ reservedConcurrency: { sweepOverdue: 1, createTask: 900 } }, /at most 900 in all, not 901/],
    [{ reservedConcurrency: { createTask: 1 }, lambdaConcurrency: 10 }, /at most 0 in all, not 1/],
    [{ reservedConcurrency: { createTsk: 1 } }, /did you mean createTask/],
    [{ reservedConcurrency: { createTask: 0 } }, /createTask must be at least 1/],
  ])('cannot be %j', (context, message) => {
    expect(() => stackOf(undefined, context)).toThrow(message);
  });
});

describe('OpenTelemetry', () => {
  const { template, functionOf, allowedTo } = synthesized({ openTelemetry });

  it('traces every function with the layer, and keeps its environment variables', () => {
    const variables = {
      ...{ AWS_LAMBDA_EXEC_WRAPPER: '/opt/otel-instrument', NODE_OPTIONS: '--enable-source-maps' },
      ...{ OTEL_AWS_APPLICATION_SIGNALS_ENABLED: 'false', OTEL_TRACES_SAMPLER: 'traceidratio' },
    };
    template.allResourcesProperties('AWS::Lambda::Function', {
      Layers: [openTelemetry.layer],
      TracingConfig: { Mode: 'Active' },
      Environment: { Variables: Match.objectLike(variables) },
    });
    expect(functionOf('CreateTask').Environment.Variables.OTEL_SERVICE_NAME).toBe('Crewboard-createTask');
  });

  it('lets functions write traces, but not read them', () => {
    expect(allowedTo('Health', 'xray')).toEqual(['xray:PutTelemetryRecords "*"', 'xray:PutTraceSegments "*"']);
  });
});
