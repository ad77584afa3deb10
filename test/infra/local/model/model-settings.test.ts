import { describe, expect, it } from 'vitest';
import { readModelSettings } from '../../../../infra/local/model/model-settings.ts';
import { Problem } from '../../../../infra/problem.ts';
import { globalProfile, standardModel, standardModelName } from '../../../../lib/contract/agents/models.ts';

const url = 'http://127.0.0.1:11434/v1';
const simulator = { kind: 'simulator', defaultModel: standardModel, latencyMs: 0, script: undefined };
const chat = { kind: 'chat', baseUrl: url, defaultModel: standardModel, apiKey: undefined, name: undefined };
const bedrock = { kind: 'bedrock', defaultModel: 'm' };

const names = ['MODEL_BASE_URL', 'MODEL_API_KEY', 'MODEL_NAME', 'MODEL_MAX_TOKENS', 'MODEL_LATENCY_MS', 'MODEL_SCRIPT'];
const empty = Object.fromEntries(['MODEL', 'DEFAULT_MODEL', ...names].map((name) => [name, '']));

describe('the model is', () => {
  it.each([
    ['the simulator by default, with the standard model and without latency', {}, simulator],
    ['the simulator if all variables are empty', empty, simulator],
    ['the simulator with its model', { DEFAULT_MODEL: 'm' }, { ...simulator, defaultModel: 'm' }],
    ['the simulator with its latency', { MODEL_LATENCY_MS: '600000' }, { ...simulator, latencyMs: 600_000 }],
    ['the simulator with its script', { MODEL_SCRIPT: 'rules.json' }, { ...simulator, script: 'rules.json' }],
    ['a server if its URL is set', { MODEL_BASE_URL: url }, chat],
    ['a server with its key', { MODEL_BASE_URL: url, MODEL_API_KEY: 'sk-1' }, { ...chat, apiKey: 'sk-1' }],
    ['a server with its model', { MODEL_BASE_URL: url, MODEL_NAME: 'llama' }, { ...chat, name: 'llama' }],
    ['a server with its default', { MODEL_BASE_URL: url, DEFAULT_MODEL: 'm' }, { ...chat, defaultModel: 'm' }],
    ['a server, without a slash at the end', { MODEL_BASE_URL: `${url}//` }, chat],
    ['a server without a path', { MODEL_BASE_URL: 'https://m.test' }, { ...chat, baseUrl: 'https://m.test' }],
    ['Bedrock if MODEL says so', { MODEL: 'bedrock', DEFAULT_MODEL: 'm' }, bedrock],
    ['one of the allowed models', { DEFAULT_MODEL: 'b', ALLOWED_MODELS: 'a, b' }, { ...simulator, defaultModel: 'b' }],
  ])('%s', (_, variables, settings) => {
    expect(readModelSettings(variables)).toEqual(settings);
  });

  it.each([
    [{ AWS_REGION: 'eu-west-3' }, 'eu'],
    [{ AWS_DEFAULT_REGION: 'ca-central-1' }, 'us'],
    [{ AWS_REGION: 'eu-west-3', MODEL_REGION: 'us-west-2' }, 'us'],
  ])('Bedrock with the inference profile of the geography of %o', (region, geography) => {
    const settings = { ...bedrock, defaultModel: `${geography}.${standardModel}` };
    expect(readModelSettings({ MODEL: 'bedrock', ...region })).toEqual(settings);
  });
});

const ofSimulator = 'is a setting of the simulator, which MODEL_BASE_URL replaces; unset one of them.';

it.each<[Record<string, string>, string]>([
  [
    // The global profile must be chosen explicitly.
    { MODEL: 'bedrock', AWS_REGION: 'ap-northeast-1' },
    `${standardModelName} has no inference profile for the geography of ap-northeast-1; set DEFAULT_MODEL, to ${globalProfile} if prompts may be processed in any region.`,
  ],
  [{ MODEL: 'bedrock' }, 'The default model for MODEL=bedrock depends on the region; set AWS_REGION or DEFAULT_MODEL.'],
  [
    { DEFAULT_MODEL: 'c', ALLOWED_MODELS: 'a,b' },
    'The default model c is not in ALLOWED_MODELS; set DEFAULT_MODEL to one of a, b.',
  ],
  [{ MODEL: 'Bedrock' }, 'MODEL is "Bedrock"; set it to bedrock, or leave it unset.'],
  [{ MODEL_API_KEY: '1' }, 'MODEL_API_KEY needs MODEL_BASE_URL; set both.'],
  [{ MODEL_NAME: '1' }, 'MODEL_NAME needs MODEL_BASE_URL; set both.'],
  [{ MODEL_MAX_TOKENS: '1024' }, 'MODEL_MAX_TOKENS needs MODEL_BASE_URL; set both.'],
  [{ MODEL_LATENCY_MS: '1', MODEL_BASE_URL: url }, `MODEL_LATENCY_MS ${ofSimulator}`],
  [{ MODEL_SCRIPT: '1', MODEL_BASE_URL: url }, `MODEL_SCRIPT ${ofSimulator}`],
  ...names.map((name): [Record<string, string>, string] => [
    { MODEL: 'bedrock', [name]: '1' },
    `${name} has no effect together with MODEL=bedrock; unset one of them.`,
  ]),
])('rejects %o', (variables, sentence) => {
  expect(() => readModelSettings(variables)).toThrow(new Problem(sentence));
});

it.each(['-1', '1.5', '1e3', ' 5', '600001', '9999999'])('rejects the latency %j', (latency) => {
  const sentence = `MODEL_LATENCY_MS is "${latency}"; set it to a whole number of milliseconds from 0 to 600000.`;
  expect(() => readModelSettings({ MODEL_LATENCY_MS: latency })).toThrow(new Problem(sentence));
});

it.each([
  ...['localhost', 'localhost:11434', 'ftp://models.test', '/v1', 'http://me:sk-1@models.test/v1'],
  ...['http://sk-1@models.test/v1', 'http://models.test/v1?key=sk-1', 'http://models.test/v1#sk-1'],
])('rejects the URL %j without repeating it', (baseUrl) => {
  const sentence = `MODEL_BASE_URL is invalid; set it to a URL such as ${url}, and a key by MODEL_API_KEY only.`;
  expect(() => readModelSettings({ MODEL_BASE_URL: baseUrl })).toThrow(new Problem(sentence));
});

it.each(['sk 1', 'sk-1\n', 'sk-é', 'sk-1\u0000'])('rejects the key %j without repeating it', (key) => {
  expect(() => readModelSettings({ MODEL_BASE_URL: url, MODEL_API_KEY: key })).toThrow(
    new Problem('MODEL_API_KEY has invalid characters, such as a space or a line break; set it to the key only.'),
  );
});
