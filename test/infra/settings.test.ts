import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { readSettings, stackNameOf } from '../../infra/aws/settings.ts';
import { standardModel } from '../../lib/contract/deployment.ts';
import { stackOf, synthesized } from './synthesized.ts';

const read = (context: Record<string, unknown>) => readSettings(new App({ context }).node);

describe('the settings of a stack', () => {
  it('have a default each', () => {
    expect(read({})).toEqual({
      defaultModel: standardModel,
      retryLadder: '300,1800,7200',
      runningCap: 50,
      lambdaConcurrency: 1_000,
      queues: {},
      waitingLimitMinutes: 60,
      logRetentionDays: 30,
      throttleRate: 100,
      throttleBurst: 200,
      ephemeral: false,
      emulator: false,
    });
  });

  it('are the same as text, as the command line gives them, and as cdk.json writes them', () => {
    const asText = read({
      runningCap: '7',
      logRetentionDays: '90',
      ephemeral: 'true',
      corsOrigins: 'https://a.example',
    });
    expect(asText).toEqual(
      read({ runningCap: 7, logRetentionDays: 90, ephemeral: true, corsOrigins: ' https://a.example ' }),
    );
    expect(asText).toMatchObject({ runningCap: 7, ephemeral: true, corsOrigins: ['https://a.example'] });
  });

  it.each([
    ['stage', 'Prod', 'lower-case'],
    ['stage', 'a b', 'lower-case'],
    ['defaultModel', '', 'must not be empty'],
    ['modelRegion', 'Frankfurt', 'a region such as'],
    ['retryLadder', '5,30', 'three numbers'],
    ['retryLadder', '5m,30m,2h', 'three numbers'],
    ['runningCap', '0', 'at least 1'],
    ['runningCap', '1.5', 'a whole number'],
    ['runningCap', 1.5, 'a whole number'],
    ['lambdaConcurrency', '9', 'at least 10'],
    ['queues', '{"deliveries":', 'an object by the names of queues'],
    ['queues', { deadLetters: {} }, 'an object by the names of queues: deliveries, slowDeliveries'],
    ['queues', { deliveries: 20 }, 'an object of batchSize and concurrency'],
    ['queues', { deliveries: { speed: 20 } }, 'an object of batchSize and concurrency'],
    ['queues.deliveries.concurrency', 1, 'at least 2'],
    ['queues.deliveries.concurrency', 1_001, 'at most 1000'],
    ['queues.deliveries.batchSize', 0, 'at least 1'],
    ['queues.deliveries.batchSize', 11, 'at most 10'],
    ['logRetentionDays', '31', 'one of 1, 3, 5'],
    ['throttleRate', 'many', 'a whole number'],
    ['throttleBurst', '5001', 'at most 5000'],
    ['corsOrigins', 'https://a.example/path', 'must be * or origins'],
    ['corsOrigins', 'a.example', 'must be * or origins'],
    ['alarmEmail', 'nobody', 'an e-mail address'],
    ['alarmTopicArn', 'on-call', 'the ARN of a standard SNS topic'],
    ['alarmTopicArn', 'arn:aws:sns:eu-central-1:111122223333:on-call.fifo', 'the ARN of a standard SNS topic'],
    ['ephemeral', 'yes', 'true or false'],
    ['ephemeral', '', 'true or false'],
  ])('refuse %s = %j, and say what it should be', (name, value, words) => {
    const context = name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<
      string,
      unknown
    >;
    expect(() => read(context)).toThrow(new RegExp(`${name}.*${words.replaceAll('*', '\\*')}`));
  });

  it('take the polling of queues as JSON, as the command line gives it', () => {
    const queues = { deliveries: { concurrency: 20 }, executions: { batchSize: 2 } };
    expect(read({ queues: JSON.stringify(queues) })).toEqual(read({ queues }));
    expect(read({ queues }).queues).toEqual(queues);
  });

  it('are refused all at once', () => {
    expect(() => read({ runningCap: 'x', stage: 'X' })).toThrow(/stage[\s\S]*runningCap/);
  });
});

describe('a stack', () => {
  it.each([
    [{}, 'Crewboard'],
    [{ stage: 'staging' }, 'Crewboard-staging'],
    [{ ephemeral: true }, 'CrewboardEphemeral'],
    [{ ephemeral: true, stage: 'pr-7' }, 'CrewboardEphemeral-pr-7'],
  ])('with %j is called %s', (context, name) => {
    expect(stackNameOf(read(context))).toBe(name);
    expect(stackOf(undefined, context).stackName).toBe(name);
  });

  it('tells its functions what is set', () => {
    const context = { defaultModel: 'some.model', modelRegion: 'eu-west-1', retryLadder: '1,2,3', runningCap: '9' };
    Template.fromStack(stackOf(undefined, context)).allResourcesProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          DEFAULT_MODEL: 'some.model',
          MODEL_REGION: 'eu-west-1',
          RETRY_LADDER: '1,2,3',
          RUNNING_CAP: '9',
        }),
      },
    });
  });

  it('keeps every log for as long as is set', () => {
    const kept = Template.fromStack(stackOf(undefined, { logRetentionDays: 7 }));
    kept.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
  });

  it('takes no more requests than is set, and logs each', () => {
    const busy = Template.fromStack(stackOf(undefined, { throttleRate: 5, throttleBurst: 9 }));
    busy.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 9 },
      AccessLogSettings: { Format: Match.stringLikeRegexp('requestId') },
    });
  });

  it('lets pages of the origins that are set call it, and read what they need', () => {
    const open = Template.fromStack(stackOf(undefined, { corsOrigins: 'https://a.example,https://b.example' }));
    open.hasResourceProperties('AWS::ApiGatewayV2::Api', {
      CorsConfiguration: {
        AllowOrigins: ['https://a.example', 'https://b.example'],
        AllowHeaders: Match.arrayWith(['Authorization', 'Idempotency-Key']),
        ExposeHeaders: Match.arrayWith(['ETag', 'X-Request-Id']),
        AllowCredentials: Match.absent(),
      },
    });
    synthesized().template.hasResourceProperties('AWS::ApiGatewayV2::Api', { CorsConfiguration: Match.absent() });
  });
});
