import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLeashed } from '../deploy/leash.ts';
import { keptOf, writeDictionaries } from './dictionaries.ts';
import { fuzzedDocument } from './document.ts';
import type { Setup } from './setup.ts';
import type { Tally } from './summary.ts';

/** The folder of the programs, the time of the requests in seconds, and the seed. */
export type Manner = { programs: string; seconds: number; seed: number };

const here = import.meta.dirname;

/**
 * Runs schemathesis, which prints its findings, and ends it half a minute after its time.
 *
 * @returns its exit code, and the number of responses by operation and status if it has ended by itself
 */
export async function runSchemathesis(
  folder: string,
  { url, own, other, words, receiver }: Setup,
  { programs, seconds, seed }: Manner,
): Promise<{ code: number; tally: Tally | undefined }> {
  const inFolder = (name: string) => join(folder, name);
  const published = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  writeFileSync(inFolder('openapi.json'), JSON.stringify(fuzzedDocument(published)));
  writeDictionaries(inFolder('dictionaries'), own, other, receiver.host);
  // It names the dictionaries relative to itself; schemathesis looks for it in its working folder.
  copyFileSync(join(here, 'schemathesis.toml'), inFolder('schemathesis.toml'));
  const tally = inFolder('tally.json');
  writeFileSync(
    inFolder('setup.json'),
    JSON.stringify({ url, words, others: thingsOf(other), kept: keptOf(own), tally }),
  );

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
  const code = await run.ended;
  clearTimeout(timer);
  return { code, tally: existsSync(tally) ? (JSON.parse(readFileSync(tally, 'utf8')) as Tally) : undefined };
}

/** Returns the ids and names of all resources of an organization. */
function thingsOf({ name: _, token: __, api: ___, ...things }: Setup['own']): string[] {
  return Object.values(things).flat();
}
