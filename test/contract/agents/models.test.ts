import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  formerStandardModels,
  geographicProfiles,
  globalProfile,
  hasResultStatus,
  namedModels,
  readAllowedModels,
  rejectsTextBesideTools,
  standardModel,
  standardProfileIn,
  supportsPromptCache,
  thinkingTokensOf,
} from '../../../lib/contract/agents/models.ts';

describe('the model ids', () => {
  const list = 'lib/contract/agents/models.ts';
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  })
    .split('\0')
    .filter((file) => /\.(ts|js|md|json|py|go|sh|ya?ml)$/.test(file) && file !== 'package-lock.json');
  const found = files.flatMap((file) => {
    const ids = readFileSync(file, 'utf8').match(/(?:[a-z-]+\.)?\banthropic\.claude-[\w.:-]*\w/g) ?? [];
    return [...new Set(ids)].map((id) => ({ file, id }));
  });
  const isOfUsers = ({ file }: { file: string }) => /^(docs\/|README\.md$)/.test(file);

  it('are found by this test', () => {
    expect(found.filter(({ file }) => file === list).map(({ id }) => id)).toContain(standardModel);
    expect(found.some(isOfUsers)).toBe(true);
  });

  it('are in only one file of code and tests', () => {
    expect(found.filter((one) => one.file !== list && !isOfUsers(one))).toEqual([]);
  });

  it('of the docs are all in this file', () => {
    expect(found.filter((one) => isOfUsers(one) && !namedModels.includes(one.id))).toEqual([]);
  });
});

describe('the default model', () => {
  it('is not a former one, and is listed with all its profiles', () => {
    for (const former of formerStandardModels) expect(former).not.toContain(standardModel);
    expect(namedModels).toEqual(expect.arrayContaining([standardModel, globalProfile, ...geographicProfiles]));
  });

  it('of a region is a geographic profile or none, never the global one', () => {
    for (const region of ['us-west-2', 'ca-west-1', 'eu-north-1', 'eu-central-2'])
      expect(geographicProfiles).toContain(standardProfileIn(region));
    for (const region of ['ap-northeast-1', 'ap-south-1', 'sa-east-1', 'us-gov-west-1', 'nowhere', ''])
      expect(standardProfileIn(region)).toBeUndefined();
  });
});

describe('tokens for thinking', () => {
  it.each([standardModel, globalProfile, ...geographicProfiles])('are added for %s', (model) => {
    expect(thinkingTokensOf(model)).toBeGreaterThan(0);
    expect(thinkingTokensOf(`arn:aws:bedrock:eu-west-1:1:inference-profile/${model}`)).toBeGreaterThan(0);
  });

  it.each([...formerStandardModels, 'maker.model-5', 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x'])(
    'are not added for %s',
    (model) => {
      expect(thinkingTokensOf(model)).toBe(0);
    },
  );

  it('and the longest output are within the limit of the model, 128,000 tokens', () => {
    expect(8_192 + thinkingTokensOf(standardModel)).toBeLessThan(128_000);
  });
});

describe('prompt caching', () => {
  /** Ids of models that the project does not use. */
  const claude = (name: string) => `anthropic.${'claude'}-${name}`;

  it.each([
    ...namedModels,
    ...['3-5-haiku-20241022-v1:0', '3-7-sonnet-20250219-v1:0', 'sonnet-4-20250514-v1:0', 'opus-12'].map(claude),
  ])('is used for %s', (model) => {
    expect(supportsPromptCache(model)).toBe(true);
    expect(supportsPromptCache(`arn:aws:bedrock:eu-west-1:1:inference-profile/${model}`)).toBe(true);
  });

  it.each([
    ...['v2:1', 'instant-v1', '3-opus-20240229-v1:0', '3-5-sonnet-20240620-v1:0'].map(claude),
    ...['amazon.nova-pro-v1:0', 'meta.llama4-maverick-17b-instruct-v1:0', 'deepseek.r1-v1:0'],
    'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x',
  ])('is not used for %s, which may reject it', (model) => {
    expect(supportsPromptCache(model)).toBe(false);
  });
});

it('only results for Claude and Nova have a status', () => {
  for (const model of [...namedModels, 'amazon.nova-pro-v1:0', 'us.amazon.nova-2-lite-v1:0'])
    expect(hasResultStatus(model)).toBe(true);
  for (const model of ['amazon.titan-text-premier-v1:0', 'writer.palmyra-x4-v1:0', 'a-model'])
    expect(hasResultStatus(model)).toBe(false);
});

it('only models of Meta and Mistral in Bedrock reject text beside tools', () => {
  for (const model of ['us.meta.llama4-maverick-17b-instruct-v1:0', 'mistral.mistral-large-2407-v1:0'])
    expect(rejectsTextBesideTools(model)).toBe(true);
  for (const model of [...namedModels, 'llama3.3:70b', 'mistral-small', 'deepseek.v3-v1:0'])
    expect(rejectsTextBesideTools(model)).toBe(false);
});

it('the allowed models are separated by commas, and an empty list allows all models', () => {
  expect(readAllowedModels(' a ,b,')).toEqual(['a', 'b']);
  for (const nothing of [undefined, '', ' , ']) expect(readAllowedModels(nothing)).toBeUndefined();
});
