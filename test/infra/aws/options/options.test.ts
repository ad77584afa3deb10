import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { allOptions } from '../all-options.ts';
import { stackOf, synthesized } from '../synthesized.ts';

const { customDomain, reservedConcurrency, openTelemetry } = allOptions;

const plain = JSON.stringify(Template.fromStack(stackOf()).toJSON());

it.each([
  ...['ApiGatewayV2::DomainName', 'ApiGatewayV2::ApiMapping', 'DisableExecuteApiEndpoint'],
  ...['ReservedConcurrentExecutions', 'TracingConfig', 'Layers', 'OTEL_', 'AWS_LAMBDA_EXEC_WRAPPER', 'xray:'],
  'CorsConfiguration',
])('a stack without options does not contain %s', (word) => {
  expect(plain).not.toContain(word);
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
    for (const stack of [template, alone]) stack.hasOutput('Url', { Value: 'https://api.example.com' });
    const [name = ''] = Object.keys(template.findResources('AWS::ApiGatewayV2::DomainName'));
    template.hasOutput('DomainTarget', { Value: { 'Fn::GetAtt': [name, 'RegionalDomainName'] } });
    template.hasOutput('DomainTargetZone', { Value: { 'Fn::GetAtt': [name, 'RegionalHostedZoneId'] } });
  });

  it('keeps the URL of API Gateway until the settings disable it', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: Match.absent() });
    alone.hasResourceProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: true });
  });
});

describe('reserved concurrency', () => {
  it('is set for the functions of the settings only', () => {
    const { functionOf, propertiesOf } = synthesized({ reservedConcurrency });
    const reserved = propertiesOf('AWS::Lambda::Function').flatMap((row) => row.ReservedConcurrentExecutions ?? []);
    expect(reserved.sort()).toEqual([20, 700]);
    expect(functionOf('CreateTask')).toMatchObject({ ReservedConcurrentExecutions: 20 });
    expect(functionOf('DeliverWebhook')).toMatchObject({ ReservedConcurrentExecutions: 700 });
  });

  it.each([
    [{ reservedConcurrency: { deliverWebhook: 639 } }, /deliverWebhook must be at least 640/],
    [
      { reservedConcurrency: { publishEvents: 9 } },
      /publishEvents must be at least 10, because each shard of the table’s stream needs a call of its own, not 9/,
    ],
    [{ reservedConcurrency: { sweepOverdue: 1, createTask: 900 } }, /at most 900 in all, not 901/],
    [{ reservedConcurrency: { createTask: 1 }, lambdaConcurrency: 10 }, /at most 0 in all, not 1/],
    [{ reservedConcurrency: { createTsk: 1 } }, /did you mean createTask/],
    [{ reservedConcurrency: { getPrompt: 1 } }, /getPrompt is not a setting; it shares the function of listPrompts/],
    [{ reservedConcurrency: { createTask: 0 } }, /createTask must be at least 1/],
  ])('cannot be %j', (context, message) => {
    expect(() => stackOf(undefined, context)).toThrow(message);
  });
});

it('OpenTelemetry traces every function with the layer, and lets functions write traces, but not read them', () => {
  const { template, functionOf, allowedTo } = synthesized({ openTelemetry });
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
  expect(allowedTo('Health', 'xray')).toEqual(['xray:PutTelemetryRecords "*"', 'xray:PutTraceSegments "*"']);
});
