import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLeashed } from '../deploy/emulator/leash.ts';
import { keptOf, writeDictionaries } from './dictionaries.ts';
import { fuzzedDocument } from './document.ts';
import type { Setup } from './setup.ts';

/** The folder of the programs, the time of the requests in seconds, and the seed. */
export type Manner = { programs: string; seconds: number; seed: number };

const here = import.meta.dirname;

/**
 * Runs schemathesis, which prints its findings, and ends it half a minute after its time.
 *
 * @returns its exit code
 */
export async function runSchemathesis(
  folder: string,
  { url, own, other, words, receiver }: Setup,
  { programs, seconds, seed }: Manner,
): Promise<number> {
  const inFolder = (name: string) => join(folder, name);
  const published = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  writeFileSync(inFolder('openapi.json'), JSON.stringify(fuzzedDocument(published)));
  writeDictionaries(inFolder('dictionaries'), own, other, receiver.host);
  // It names the dictionaries relative to itself; schemathesis looks for it in its working folder.
  copyFileSync(join(here, 'schemathesis.toml'), inFolder('schemathesis.toml'));
  const forHooks = { url, words, others: thingsOf(other), kept: keptOf(own) };
  writeFileSync(inFolder('setup.json'), JSON.stringify(forHooks));

  const args = ['--no-color', 'run', 'openapi.json', '--url', url, '--max-time', `${seconds}`, '--seed', `${seed}`];
  const run = startLeashed([join(programs, 'schemathesis'), ...args], {
    cwd: folder,
    output: 'inherit',
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_SETUP: inFolder('setup.json'),
      FUZZ_TOKEN: own.token,
    },
  });
  const timer = setTimeout(() => void run.stop(), (seconds + 30) * 1000);
  return run.ended.finally(() => clearTimeout(timer));
}

/** Returns the ids and names of all resources of an organization. */
function thingsOf({ name, token, api, ...things }: Setup['own']): string[] {
  return Object.values(things).flat();
}
