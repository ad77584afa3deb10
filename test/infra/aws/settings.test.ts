import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import cdk from '../../../cdk.json' with { type: 'json' };
import { parseSettings, readStackSettings, stackNameOf, withDefaultModel } from '../../../infra/aws/settings.ts';
import { stageOf } from '../../../infra/aws/stage.ts';
import { globalProfile, standardModel, standardModelName } from '../../../lib/contract/agents/models.ts';
import { pollingOf, usualLambdaConcurrency } from '../../../lib/settings/polling.ts';
import { newFolder } from '../../journeys/deployment.ts';
import { allOptions } from './all-options.ts';
import { stackOf } from './synthesized.ts';

const { customDomain, openTelemetry } = allOptions;

const existingStream = 'arn:aws:dynamodb:eu-central-1:123456789012:table/other/stream/2026-01-01T00:00:00.000';

const parse = (given: unknown, stage?: string) => parseSettings(given, 'settings/prod.json', stage);

describe('the settings of a stack', () => {
  it('have defaults', () => {
    expect(parse({})).toEqual({
      ...{ retryLadder: [300, 1800, 7200], responseDays: 7, failingDays: 5, runningCap: 50, waitingLimitMinutes: 60 },
      ...{ executionSteps: 20, executionTokens: 200_000, executionMinutes: 10 },
      ...{ lambdaConcurrency: 1_000, queues: {}, reservedConcurrency: {}, logRetentionDays: 30 },
      ...{ throttleRate: 100, throttleBurst: 200, callsOutThrottleRate: 50, callsOutThrottleBurst: 100 },
      ...{ executionThrottleRate: 20, executionThrottleBurst: 40, requestsPerMinute: 1_200, executionsPerMinute: 120 },
      ...{ callsOutPerMinute: 60, alarmTokensPerHour: 2_000_000 },
      ...{ ephemeral: false, emulator: false },
    });
  });

  it.each([
    [
      { maxWriteRequestUnits: 5_000, warmThroughput: { writeUnitsPerSecond: 5_001 } },
      /must be at most maxWriteRequestUnits \(5000\), not 5001/,
    ],
    [
      { maxWriteRequestUnits: 5_000, restoredStream: existingStream },
      /are for the own table of the stack; set those of the restored/,
    ],
  ])('reject throughput that the table cannot have: %j', (given, error) => {
    expect(() => parse(given)).toThrow(error);
  });

  const ofSns = 'must be the ARN of a standard SNS topic';
  const queue = (polling: unknown) => ({ deliveries: polling });
  it.each([
    ['defaultModel', '', 'must be a model id'],
    ['allowedModels', 'some.model', 'must be "default", "every" or a list of model ids'],
    ['allowedModels', [], 'must be "default", "every" or a list of model ids'],
    ['allowedModels.0', ['a b'], 'must be "default", "every" or a list of model ids'],
    ['modelRegion', 'Frankfurt', 'must be a region such as'],
    ['retryLadder', [5, 30], 'must be three numbers'],
    ['retryLadder.0', ['5m', '30m', '2h'], 'must be a whole number'],
    ['retryLadder.0', [0, 1800, 7200], 'must be at least 1'],
    ['retryLadder.2', [300, 1800, 86_401], 'must be at most 86400'],
    ['defaultModel', 'a,b', 'must be a model id without spaces and commas'],
    ['responseDays', 91, 'must be at most 90'],
    ['failingDays', 81, 'must be at most 80'],
    ['runningCap', 0, 'must be at least 1'],
    ['runningCap', 1.5, 'must be a whole number'],
    ['executionSteps', 201, 'must be at most 200'],
    ['executionTokens', 0, 'must be at least 1'],
    ['executionMinutes', 61, 'must be at most 60'],
    ['lambdaConcurrency', 9, 'must be at least 10'],
    ['logRetentionDays', 31, 'must be one of 1, 3, 5'],
    ['throttleBurst', 5001, 'must be at most 5000'],
    ['executionsPerMinute', 1_000_001, 'must be at most 1000000'],
    ['dailyTokens', 0, 'must be at least 1'],
    ['warmThroughput.readUnitsPerSecond', { readUnitsPerSecond: 11_999 }, 'must be at least 12000'],
    ['warmThroughput.writeUnitsPerSecond', { writeUnitsPerSecond: 10_000_001 }, 'must be at most 10000000'],
    ['maxWriteRequestUnits', 9, 'must be at least 10'],
    ['corsOrigins.0', ['https://a.example/path'], 'must be a list of *'],
    ['corsOrigins.0', ['https://A.example'], 'must be a list of *'],
    ['corsOrigins.0', ['https://a.example:443'], 'must be a list of *'],
    ['corsOrigins.0', ['https://a.example,https://b.example'], 'must be a list of *'],
    ['corsOrigins', [], 'must be a list of *'],
    ['alarmEmail', 'ops', 'must be an email address'],
    ['alarmTopicArn', 'on-call', ofSns],
    ['alarmTopicArn', 'arn:aws:sns:eu-central-1:111122223333:on-call.fifo', ofSns],
    ['tags', 'team', 'must be an object of names and values'],
    ['tags.team', { team: 1 }, 'must be a string'],
    ['tags.aws:x', { 'aws:x': 'y' }, 'must not begin with aws:'],
    ['tags.team', { team: 'AWS:crew' }, 'must not begin with aws:'],
    ['tags.team', { team: 'R&D' }, 'must have only letters, digits, spaces and _ . : / = + - @, the characters of IAM'],
    ['tags.R&D', { 'R&D': 'team' }, 'must have only letters, digits, spaces'],
    ['tags.', { '': 'team' }, 'must not be empty'],
    ['tags.team', { team: 'x'.repeat(257) }, 'must have at most 256 characters'],
    ['tags', Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`t${n}`, 'x'])), 'must be at most 48'],
    ['tags', { team: 'crew', Team: 'crew' }, 'must not have names that differ by case only'],
    ['tags', { Stage: 'prod' }, 'must not have names that differ by case only, also from service and stage'],
    ['ephemeral', 'false', 'must be true or false'],
    ['restoredStream', 'arn:aws:dynamodb:eu-central-1:123456789012:table/a', 'must be the ARN of a table’s stream'],
    ['secretsKey', 'arn:aws:kms:eu-central-1:123456789012:alias/a', 'must be the ARN of a key, not of an alias'],
    ['queues.deadLetters', { deadLetters: {} }, 'is not a setting'],
    ['queues.deliveries', queue(20), 'must be an object'],
    ['queues.deliveries.speed', queue({ speed: 20 }), 'is not a setting'],
    ['queues.deliveries.concurrency', queue({ concurrency: 1 }), 'must be at least 2'],
    ['queues.deliveries.concurrency', queue({ concurrency: 1_001 }), 'must be at most 1000'],
    ['queues.deliveries.batchSize', queue({ batchSize: 0 }), 'must be at least 1'],
    ['queues.deliveries.batchSize', queue({ batchSize: 11 }), 'must be at most 10'],
    ['customDomain.name', { ...customDomain, name: 'https://api.example.com' }, 'must be a domain name'],
    ['customDomain.certificateArn', { ...customDomain, certificateArn: 'x' }, 'must be the ARN of an ACM certificate'],
    ['canary', 'Canary10Percent15Minutes', 'is not a setting; remove it: requests reach new versions'],
    ['openTelemetry.layer', { layer: 'AWSOtel' }, 'must be the ARN of a version of a Lambda layer'],
    ['openTelemetry.wrapper', { ...openTelemetry, wrapper: 'otel-instrument' }, 'must be a path below /opt'],
    ['openTelemetry.variables.X', { ...openTelemetry, variables: { X: 'x' } }, 'must have names such as OTEL_'],
  ])('reject %s = %j with the expected value', (path, value, message) => {
    expect(() => parse({ [path.split('.')[0] as string]: value })).toThrow(`  ${path} ${message}`);
  });

  it.each([
    [
      { runningCap: 0, throttleRate: 0 },
      'runningCap must be at least 1, not 0\n  throttleRate must be at least 1, not 0',
    ],
    [{ runingCap: 1 }, 'runingCap is not a setting; did you mean runningCap?'],
    [{ stage: 1 }, 'stage is not a setting'],
    [{ somethingElse: 1 }, 'somethingElse is not a setting'],
  ])('reject %j with the file name, all errors and similar names', (settings, message) => {
    expect(() => parse(settings)).toThrow(new Error(`settings/prod.json is invalid:\n  ${message}`));
  });

  it('may have tags with all characters of IAM, 48 of them, and the tags of every stack', () => {
    const most = Object.fromEntries(Array.from({ length: 48 }, (_, n) => [`Größe ${n} _.:/=+-@`, '']));
    expect(parse({ tags: { ...most, service: 'other' } }).tags).toHaveProperty('service');
  });

  it('reject texts that do not fit into the environment variables of a function', () => {
    const allowedModels = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(256));
    expect(() => parse({ allowedModels })).toThrow(/must be shorter by \d+ bytes in all: Lambda accepts 4 KB/);
    expect(parse({ allowedModels: allowedModels.slice(0, 7) })).toHaveProperty('allowedModels');
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
    expect(readStackSettings('prod', folder)).toMatchObject({ stage: 'prod', runningCap: 2 });
    for (const stage of [undefined, 'default'])
      expect(readStackSettings(stage, folder)).toEqual({ ...parse({}), runningCap: 1 });
  });

  it('must exist and be JSON; the error lists the existing stages', () => {
    const missing = `${join(folder, 'prdo.json')} does not exist. The stages in ${folder} are: broken, default, prod.`;
    expect(() => readStackSettings('prdo', folder)).toThrow(missing);
    expect(() => readStackSettings('broken', folder)).toThrow(/broken\.json is not JSON: /);
  });

  it.each(['Prod', 'a b', '../prod', ''])('cannot have the stage %j', (stage) => {
    expect(() => readStackSettings(stage, folder)).toThrow('use lower-case letters, digits and hyphens');
  });

  it.each(readdirSync('settings'))('settings/%s of the repository is valid', (name) => {
    expect(readStackSettings(name.replace('.json', ''))).toHaveProperty('runningCap');
  });

  it('settings/production-example.json has only what works on a first deploy', () => {
    const example = JSON.parse(readFileSync('settings/production-example.json', 'utf8'));
    // Other resources must exist before: a topic with a policy, a validated certificate, a table, a key, a layer.
    expect(JSON.stringify(example)).not.toContain('arn:');
    // Clients must know the domain before the URL of API Gateway is disabled. Only a deployed table or key can be replaced.
    for (const later of ['customDomain', 'replacedTable', 'replacedKey']) expect(example).not.toHaveProperty(later);
    // An account has this quota without a request.
    const { lambdaConcurrency, queues, runningCap, ephemeral, emulator } = readStackSettings('production-example');
    expect([lambdaConcurrency, ephemeral, emulator]).toEqual([usualLambdaConcurrency, false, false]);
    const concurrency = pollingOf(lambdaConcurrency, queues);
    const all = Object.values(concurrency).reduce((sum, one) => sum + one.concurrency, 0);
    expect(all).toBeLessThan(lambdaConcurrency);
    expect(runningCap * 2).toBeLessThanOrEqual(concurrency.executions.concurrency);
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
    [{ stage: 'prod', alarmEmail: 'a' }, 'alarmEmail is a setting; write it to settings/prod.json.'],
    [{ restoredStream: 'arn:aws:x' }, 'restoredStream is a setting; write it to settings/default.json.'],
    [{ satge: 'prod' }, 'satge is not known; did you mean stage?'],
    [{ alarmMail: 'a' }, 'alarmMail is not known; did you mean the setting alarmEmail in settings/default.json?'],
    [{ whatever: '1' }, 'whatever is not known'],
  ])('with %j is rejected', (context, message) => {
    const rule = 'Only the stage can be set with -c or in the context of cdk.json, as in -c stage=prod:';
    expect(() => stageIn(context)).toThrow(new Error(`${rule}\n  ${message}`));
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

  it('has the settings in its functions, logs and API', () => {
    const template = Template.fromStack(
      stackOf(undefined, {
        ...{
          defaultModel: 'some.model',
          modelRegion: 'eu-west-1',
          retryLadder: [1, 2, 3],
          responseDays: 3,
          failingDays: 4,
          runningCap: 9,
        },
        ...{ requestsPerMinute: 8, executionsPerMinute: 7, callsOutPerMinute: 5, dailyTokens: 6 },
        ...{ logRetentionDays: 7, throttleRate: 5, throttleBurst: 9 },
        corsOrigins: ['https://a.example', 'https://b.example'],
      }),
    );
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    const all = Object.assign({}, ...functions.map(({ Properties }) => Properties.Environment.Variables));
    expect(all).toMatchObject({
      ...{ DEFAULT_MODEL: 'some.model', MODEL_REGION: 'eu-west-1', RETRY_LADDER: '1,2,3' },
      ...{ RESPONSE_DAYS: '3', FAILING_DAYS: '4', RUNNING_CAP: '9' },
      ...{ REQUESTS_PER_MINUTE: '8', EXECUTIONS_PER_MINUTE: '7', CALLS_OUT_PER_MINUTE: '5', DAILY_TOKENS: '6' },
      CORS_ORIGINS: 'https://a.example,https://b.example',
    });
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      ...{ StageName: '$default', AutoDeploy: true },
      DefaultRouteSettings: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 9 },
      AccessLogSettings: { Format: Match.stringLikeRegexp('requestId') },
    });
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', {
      CorsConfiguration: {
        AllowOrigins: ['https://a.example', 'https://b.example'],
        AllowHeaders: Match.arrayWith(['Authorization', 'Idempotency-Key']),
        ExposeHeaders: Match.arrayWith(['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']),
        AllowCredentials: Match.absent(),
      },
    });
  });
});

describe('the default model', () => {
  const modelIn = (region: string | undefined, given: Record<string, unknown> = {}) =>
    withDefaultModel(parse(given), region).defaultModel;

  it.each([
    ['us-east-1', {}, 'us'],
    ['eu-central-1', {}, 'eu'],
    ['ap-northeast-1', { modelRegion: 'us-west-2' }, 'us'],
    ['eu-west-1', { allowedModels: ['a', `eu.${standardModel}`] }, 'eu'],
  ])('of %s with %j is the inference profile of the geography %s', (region, settings, geography) => {
    expect(modelIn(region, settings)).toBe(`${geography}.${standardModel}`);
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

  it('must be set if no region is known, and must be one of the allowed models', () => {
    expect(() => modelIn(undefined)).toThrow('set AWS_REGION or defaultModel');
    expect(modelIn('eu-west-1', { allowedModels: 'default' })).toBe(`eu.${standardModel}`);
    const words = `The default model eu.${standardModel} is not in allowedModels; set defaultModel to one of a, b.`;
    expect(() => modelIn('eu-west-1', { allowedModels: ['a', 'b'] })).toThrow(words);
  });
});
