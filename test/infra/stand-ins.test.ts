import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { createTemporaryFolder } from '../temporary-files.ts';
import { bundledClients } from './bundled-clients.ts';
import * as sources from './clients.ts';

const bundled = await bundledClients();

afterEach(() => vi.unstubAllEnvs());

it('a bundled client of Bedrock that is given no handler says what it lacks', () => {
  expect(() => new bundled.BedrockRuntimeClient({ region: 'eu-central-1' })).toThrow('The bundles have no HTTP/2');
  expect(() => new sources.BedrockRuntimeClient({ region: 'eu-central-1' })).not.toThrow();
});

it('a bundled client takes its region from the environment, and from nothing else on its machine', async () => {
  const file = join(createTemporaryFolder(), 'config');
  writeFileSync(file, '[default]\nregion = eu-west-3\n');
  vi.stubEnv('AWS_CONFIG_FILE', file);
  vi.stubEnv('AWS_REGION', undefined);
  expect(await new sources.KMSClient().config.region()).toBe('eu-west-3');
  await expect(new bundled.KMSClient().config.region()).rejects.toThrow('Region is missing');
  vi.stubEnv('AWS_REGION', 'us-gov-west-1');
  expect(await new bundled.KMSClient().config.region()).toBe('us-gov-west-1');
});

it.each(['eu-central-1', 'us-gov-west-1', 'cn-north-1'])('bundled clients find AWS in %s', (Region) => {
  const addressIn = ({ KMSClient }: typeof sources) =>
    new KMSClient({ region: Region }).config.endpointProvider({ Region }).url.hostname;
  expect(addressIn(bundled)).toBe(addressIn(sources));
  expect(addressIn(bundled)).toMatch(`kms.${Region}.amazonaws.com`);
});
