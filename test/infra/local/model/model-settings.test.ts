import { describe, expect, it } from 'vitest';
import { readModelSettings } from '../../../../infra/local/model/model-settings.ts';
import { Problem } from '../../../../infra/local/problem.ts';
import { globalProfile, standardModel, standardModelName } from '../../../../lib/contract/models.ts';

const url = 'http://127.0.0.1:11434/v1';

describe('the model is', () => {
  it('the simulator by default, with the standard model and without latency', () => {
    const settings = { kind: 'simulator', defaultModel: standardModel, latencyMs: 0, script: undefined };
    expect(readModelSettings({})).toEqual(settings);
    const names = ['MODEL', 'MODEL_BASE_URL', 'MODEL_API_KEY', 'MODEL_NAME', 'MODEL_LATENCY_MS', 'MODEL_SCRIPT'];
    expect(readModelSettings(Object.fromEntries([...names, 'DEFAULT_MODEL'].map((name) => [name, ''])))).toEqual(
      settings,
    );
  });

  it('the simulator with its settings', () => {
    expect(readModelSettings({ DEFAULT_MODEL: 'm', MODEL_LATENCY_MS: '600000', MODEL_SCRIPT: 'rules.json' })).toEqual({
      kind: 'simulator',
      defaultModel: 'm',
      latencyMs: 600_000,
      script: 'rules.json',
    });
  });

  it('a server if its URL is set', () => {
    const chat = { kind: 'chat', baseUrl: url, defaultModel: standardModel, apiKey: undefined, name: undefined };
    expect(readModelSettings({ MODEL_BASE_URL: url })).toEqual(chat);
    expect(
      readModelSettings({ MODEL_BASE_URL: url, MODEL_API_KEY: 'sk-1', MODEL_NAME: 'llama', DEFAULT_MODEL: 'm' }),
    ).toEqual({ ...chat, apiKey: 'sk-1', name: 'llama', defaultModel: 'm' });
  });

  it.each([
    ['http://127.0.0.1:11434/v1/', url],
    ['https://models.test', 'https://models.test'],
    ['https://models.test//', 'https://models.test'],
  ])('a server at %s, without a slash at the end', (given, baseUrl) => {
    expect(readModelSettings({ MODEL_BASE_URL: given })).toMatchObject({ baseUrl });
  });

  it('Bedrock if MODEL says so', () => {
    expect(readModelSettings({ MODEL: 'bedrock', DEFAULT_MODEL: 'm' })).toEqual({ kind: 'bedrock', defaultModel: 'm' });
  });

  it.each([
    [{ AWS_REGION: 'eu-west-3' }, 'eu'],
    [{ AWS_DEFAULT_REGION: 'ca-central-1' }, 'us'],
    [{ AWS_REGION: 'eu-west-3', MODEL_REGION: 'us-west-2' }, 'us'],
  ])('Bedrock with the inference profile of the geography of %o', (region, geography) => {
    const defaultModel = `${geography}.${standardModel}`;
    expect(readModelSettings({ MODEL: 'bedrock', ...region })).toEqual({ kind: 'bedrock', defaultModel });
  });

  it('one of the allowed models', () => {
    expect(readModelSettings({ DEFAULT_MODEL: 'b', ALLOWED_MODELS: 'a, b' })).toMatchObject({ defaultModel: 'b' });
  });
});

describe('there is no default model', () => {
  it('in a region without a geographic profile, because the global one must be chosen explicitly', () => {
    expect(() => readModelSettings({ MODEL: 'bedrock', AWS_REGION: 'ap-northeast-1' })).toThrow(
      new Problem(
        `${standardModelName} has no inference profile for the geography of ap-northeast-1; set DEFAULT_MODEL, to ${globalProfile} if prompts may be processed in any region.`,
      ),
    );
  });

  it('without a region', () => {
    expect(() => readModelSettings({ MODEL: 'bedrock' })).toThrow(/set AWS_REGION or DEFAULT_MODEL\.$/);
  });

  it('if it is not allowed', () => {
    expect(() => readModelSettings({ DEFAULT_MODEL: 'c', ALLOWED_MODELS: 'a,b' })).toThrow(
      new Problem('The default model c is not in ALLOWED_MODELS; set DEFAULT_MODEL to one of a, b.'),
    );
  });
});

it.each(['Bedrock', 'ollama', 'simulator'])('rejects the model %j', (model) => {
  expect(() => readModelSettings({ MODEL: model })).toThrow(
    new Problem(`MODEL is ${JSON.stringify(model)}; set it to bedrock, or leave it unset.`),
  );
});

it.each(['-1', '1.5', '1e3', '5s', ' 5', '600001', '9999999'])('rejects the latency %j', (latency) => {
  expect(() => readModelSettings({ MODEL_LATENCY_MS: latency })).toThrow(
    new Problem(
      `MODEL_LATENCY_MS is ${JSON.stringify(latency)}; set it to a whole number of milliseconds from 0 to 600000.`,
    ),
  );
});

it.each([
  'localhost',
  'localhost:11434',
  'ftp://models.test',
  '/v1',
  'http://me:sk-1@models.test/v1',
  'http://sk-1@models.test/v1',
  'http://models.test/v1?key=sk-1',
  'http://models.test/v1#sk-1',
])('rejects the URL %j without repeating it', (baseUrl) => {
  expect(() => readModelSettings({ MODEL_BASE_URL: baseUrl })).toThrow(
    new Problem(
      'MODEL_BASE_URL is invalid; set it to a URL such as http://127.0.0.1:11434/v1, and a key by MODEL_API_KEY only.',
    ),
  );
});

it.each(['sk 1', 'sk-1\n', 'sk-é', 'sk-1\u0000'])('rejects the key %j without repeating it', (key) => {
  expect(() => readModelSettings({ MODEL_BASE_URL: url, MODEL_API_KEY: key })).toThrow(
    new Problem('MODEL_API_KEY has invalid characters, such as a space or a line break; set it to the key only.'),
  );
});

it.each([
  ['MODEL_API_KEY', {}, 'needs MODEL_BASE_URL; set both'],
  ['MODEL_NAME', {}, 'needs MODEL_BASE_URL; set both'],
  [
    'MODEL_LATENCY_MS',
    { MODEL_BASE_URL: url },
    'is a setting of the simulator, which MODEL_BASE_URL replaces; unset one of them',
  ],
  [
    'MODEL_SCRIPT',
    { MODEL_BASE_URL: url },
    'is a setting of the simulator, which MODEL_BASE_URL replaces; unset one of them',
  ],
  ...['MODEL_BASE_URL', 'MODEL_API_KEY', 'MODEL_NAME', 'MODEL_LATENCY_MS', 'MODEL_SCRIPT'].map(
    (name) => [name, { MODEL: 'bedrock' }, 'has no effect together with MODEL=bedrock; unset one of them'] as const,
  ),
] as const)('rejects %s if it has no effect (%j)', (name, others, why) => {
  expect(() => readModelSettings({ ...others, [name]: '1' })).toThrow(new Problem(`${name} ${why}.`));
});
