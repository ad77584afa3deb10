import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  formerStandardModels,
  geographicProfiles,
  globalProfile,
  namedModels,
  readAllowedModels,
  standardModel,
  standardProfileIn,
  thinkingTokensOf,
} from '../../lib/contract/models.ts';

describe('the model ids', () => {
  const list = 'lib/contract/models.ts';
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

it('the allowed models are separated by commas, and an empty list allows all models', () => {
  expect(readAllowedModels(' a ,b,')).toEqual(['a', 'b']);
  for (const nothing of [undefined, '', ' , ']) expect(readAllowedModels(nothing)).toBeUndefined();
});
