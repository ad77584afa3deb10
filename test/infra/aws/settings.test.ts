import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import cdk from '../../../cdk.json' with { type: 'json' };
import { parseSettings, readSettings, stackNameOf, withDefaultModel } from '../../../infra/aws/settings.ts';
import { stageOf } from '../../../infra/aws/stage.ts';
import { globalProfile, standardModel, standardModelName } from '../../../lib/contract/models.ts';
import { newFolder } from '../../journeys/deployment.ts';
import { stackOf, synthesized } from './synthesized.ts';

const parse = (given: unknown, stage?: string) => parseSettings(given, 'settings/prod.json', stage);

describe('the settings of a stack', () => {
  it('have defaults', () => {
    expect(parse({})).toEqual({
      retryLadder: [300, 1800, 7200],
      runningCap: 50,
      lambdaConcurrency: 1_000,
      queues: {},
      reservedConcurrency: {},
      waitingLimitMinutes: 60,
      logRetentionDays: 30,
      throttleRate: 100,
      throttleBurst: 200,
      callsOutThrottleRate: 5,
      callsOutThrottleBurst: 10,
      executionThrottleRate: 20,
      executionThrottleBurst: 40,
      requestsPerMinute: 1_200,
      executionsPerMinute: 120,
      ephemeral: false,
      emulator: false,
    });
  });

  it.each([
    ['defaultModel', '', 'must not be empty'],
    ['allowedModels', 'some.model', 'must be a list of model ids'],
    ['allowedModels', [], 'must be a list of model ids'],
    ['allowedModels.0', ['a b'], 'must be a list of model ids'],
    ['modelRegion', 'Frankfurt', 'must be a region such as'],
    ['retryLadder', [5, 30], 'must be three numbers'],
    ['retryLadder.0', ['5m', '30m', '2h'], 'must be a whole number'],
    ['runningCap', 0, 'must be at least 1'],
    ['runningCap', 1.5, 'must be a whole number'],
    ['lambdaConcurrency', 9, 'must be at least 10'],
    ['logRetentionDays', 31, 'must be one of 1, 3, 5'],
    ['throttleBurst', 5001, 'must be at most 5000'],
    ['executionsPerMinute', 1_000_001, 'must be at most 1000000'],
    ['corsOrigins.0', ['https://a.example/path'], 'must be a list of * or origins'],
    ['corsOrigins', [], 'must be a list of * or origins'],
    ['alarmEmail', 'ops', 'must be an email address'],
    ['alarmTopicArn', 'on-call', 'must be the ARN of a standard SNS topic'],
    ['alarmTopicArn', 'arn:aws:sns:eu-central-1:111122223333:on-call.fifo', 'must be the ARN of a standard SNS topic'],
    ['tags', 'team', 'must be an object of names and values'],
    ['tags.team', { team: 1 }, 'must be a string'],
    ['tags.aws:x', { 'aws:x': 'y' }, 'must not begin with aws:'],
    ['ephemeral', 'false', 'must be true or false'],
  ])('reject %s = %j with the expected value', (path, value, message) => {
    expect(() => parse({ [path.split('.')[0] as string]: value })).toThrow(`  ${path} ${message}`);
  });

  it('are rejected with all errors and the file name', () => {
    expect(() => parse({ runningCap: 'x', throttleRate: 0 })).toThrow(
      'settings/prod.json is invalid:\n' +
        '  runningCap must be a whole number, not "x"\n' +
        '  throttleRate must be at least 1, not 0',
    );
  });

  it.each([
    ['runingCap', 'runingCap is not a setting; did you mean runningCap?'],
    ['stage', 'stage is not a setting'],
    ['somethingElse', 'somethingElse is not a setting'],
  ])('reject the unknown name %s, and suggest a similar one', (name, message) => {
    expect(() => parse({ [name]: 1 })).toThrow(new Error(`settings/prod.json is invalid:\n  ${message}`));
  });

  it.each([
    [{ deadLetters: {} }, 'queues.deadLetters is not a setting'],
    [{ deliveries: 20 }, 'queues.deliveries must be an object'],
    [{ deliveries: { speed: 20 } }, 'queues.deliveries.speed is not a setting'],
    [{ deliveries: { concurrency: 1 } }, 'queues.deliveries.concurrency must be at least 2'],
    [{ deliveries: { concurrency: 1_001 } }, 'queues.deliveries.concurrency must be at most 1000'],
    [{ deliveries: { batchSize: 0 } }, 'queues.deliveries.batchSize must be at least 1'],
    [{ deliveries: { batchSize: 11 } }, 'queues.deliveries.batchSize must be at most 10'],
  ])('reject the polling %j of queues', (queues, message) => {
    expect(() => parse({ queues })).toThrow(message);
  });

  it.each(['text', null])('reject a file that contains %j', (content) => {
    expect(() => parse(content)).toThrow('The file must be an object');
  });
});

describe('the settings file of a stage', () => {
  const folder = newFolder();
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  write('default.json', '{ "runningCap": 1 }');
  write('prod.json', '{ "runningCap": 2 }');
  write('broken.json', '{ runningCap: 2 }');

  it('has the name of the stage, or default.json without a stage', () => {
    expect(readSettings('prod', folder)).toMatchObject({ stage: 'prod', runningCap: 2 });
    for (const stage of [undefined, 'default'])
      expect(readSettings(stage, folder)).toEqual({ ...parse({}), runningCap: 1 });
  });

  it('must exist; the error lists the existing stages', () => {
    expect(() => readSettings('prdo', folder)).toThrow(
      `${join(folder, 'prdo.json')} does not exist. The stages in ${folder} are: broken, default, prod.`,
    );
  });

  it('must be JSON', () => {
    expect(() => readSettings('broken', folder)).toThrow(/broken\.json is not JSON: /);
  });

  it.each(['Prod', 'a b', '../prod', ''])('cannot have the stage %j', (stage) => {
    expect(() => readSettings(stage, folder)).toThrow('use lower-case letters, digits and hyphens');
  });

  it.each(readdirSync('settings'))('settings/%s of the repository is valid', (name) => {
    expect(readSettings(name.replace('.json', ''))).toHaveProperty('runningCap');
  });
});

describe('the context of a deploy', () => {
  const stageIn = (context: Record<string, unknown>) =>
    stageOf(new App({ context: { ...cdk.context, ...context } }).node);

  it('may contain the stage and the values of the CDK', () => {
    expect(stageIn({ stage: 'prod', 'aws:cdk:enable-asset-metadata': true })).toBe('prod');
    expect(stageIn({})).toBeUndefined();
  });

  it.each([
    [{ stage: 'prod', alarmEmail: 'a@example.com' }, 'alarmEmail is a setting; write it to settings/prod.json.'],
    [{ restoredStream: 'arn:aws:x' }, 'restoredStream is a setting; write it to settings/default.json.'],
    [{ satge: 'prod' }, 'satge is not known; did you mean stage?'],
    [
      { alarmMail: 'a@example.com' },
      'alarmMail is not known; did you mean the setting alarmEmail in settings/default.json?',
    ],
    [{ whatever: '1' }, 'whatever is not known'],
  ])('with %j is rejected', (context, message) => {
    expect(() => stageIn(context)).toThrow(
      new Error(`Only the stage can be set with -c or in the context of cdk.json, as in -c stage=prod:\n  ${message}`),
    );
  });
});

describe('a stack', () => {
  it.each([
    [{}, undefined, 'Crewboard'],
    [{}, 'staging', 'Crewboard-staging'],
    [{ ephemeral: true }, undefined, 'CrewboardEphemeral'],
    [{ ephemeral: true }, 'pr-7', 'CrewboardEphemeral-pr-7'],
  ])('with %j and the stage %s has the name %s', (settings, stage, name) => {
    expect(stackNameOf(parse(settings, stage))).toBe(name);
    expect(stackOf(undefined, settings, stage).stackName).toBe(name);
  });

  it('passes the settings to its functions', () => {
    const settings = {
      ...{ defaultModel: 'some.model', modelRegion: 'eu-west-1', retryLadder: [1, 2, 3], runningCap: 9 },
      ...{ requestsPerMinute: 8, executionsPerMinute: 7 },
    };
    Template.fromStack(stackOf(undefined, settings)).allResourcesProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          DEFAULT_MODEL: 'some.model',
          MODEL_REGION: 'eu-west-1',
          RETRY_LADDER: '1,2,3',
          RUNNING_CAP: '9',
          REQUESTS_PER_MINUTE: '8',
          EXECUTIONS_PER_MINUTE: '7',
        }),
      },
    });
  });

  it('keeps every log for the retention of the settings', () => {
    const stack = Template.fromStack(stackOf(undefined, { logRetentionDays: 7 }));
    stack.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
  });

  it('throttles requests by the settings, and logs each', () => {
    const throttled = Template.fromStack(stackOf(undefined, { throttleRate: 5, throttleBurst: 9 }));
    throttled.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 9 },
      AccessLogSettings: { Format: Match.stringLikeRegexp('requestId') },
    });
  });

  it('allows web pages of the origins in the settings to call it and to read its headers', () => {
    const withOrigins = Template.fromStack(
      stackOf(undefined, { corsOrigins: ['https://a.example', 'https://b.example'] }),
    );
    withOrigins.hasResourceProperties('AWS::ApiGatewayV2::Api', {
      CorsConfiguration: {
        AllowOrigins: ['https://a.example', 'https://b.example'],
        AllowHeaders: Match.arrayWith(['Authorization', 'Idempotency-Key']),
        ExposeHeaders: Match.arrayWith(['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']),
        AllowCredentials: Match.absent(),
      },
    });
    synthesized().template.hasResourceProperties('AWS::ApiGatewayV2::Api', { CorsConfiguration: Match.absent() });
  });
});

describe('the default model', () => {
  const modelIn = (region: string | undefined, given: Record<string, unknown> = {}) =>
    withDefaultModel(parse(given), region).defaultModel;

  it.each([
    ['us-east-1', 'us'],
    ['eu-central-1', 'eu'],
  ])('of %s is the inference profile of its geography, %s', (region, geography) => {
    expect(modelIn(region)).toBe(`${geography}.${standardModel}`);
  });

  it('depends on the region where models are called', () => {
    expect(modelIn('ap-northeast-1', { modelRegion: 'us-west-2' })).toBe(`us.${standardModel}`);
  });

  it.each(['ap-northeast-1', 'us-gov-west-1'])(
    'of %s must be set, because a global profile must be chosen explicitly',
    (region) => {
      expect(() => modelIn(region)).toThrow(
        `${standardModelName} has no inference profile for the geography of ${region}. Set defaultModel to ${globalProfile}`,
      );
      expect(modelIn(region, { defaultModel: globalProfile })).toBe(globalProfile);
    },
  );

  it('must be set if no region is known', () => {
    expect(() => modelIn(undefined)).toThrow('set AWS_REGION or defaultModel');
  });

  it('must be one of the allowed models', () => {
    expect(modelIn('eu-west-1', { allowedModels: ['a', `eu.${standardModel}`] })).toBe(`eu.${standardModel}`);
    expect(() => modelIn('eu-west-1', { allowedModels: ['a', 'b'] })).toThrow(
      `The default model eu.${standardModel} is not in allowedModels; set defaultModel to one of a, b.`,
    );
  });
});
