import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLeashed } from '../deploy/leash.ts';
import { keptOf, writeDictionaries } from './dictionaries.ts';
import { fuzzedDocument } from './document.ts';
import type { Stage } from './stage.ts';
import type { Tally } from './summary.ts';

/** How requests are made up: by which programs, for how long, and by which seed. */
export type Manner = { programs: string; seconds: number; seed: number };

const here = import.meta.dirname;

/**
 * Runs schemathesis for as long as it is given, and half a minute more at the most. What it finds it prints.
 *
 * @returns its exit code, and what was asked and answered if it came to its end
 */
export async function runSchemathesis(
  folder: string,
  { url, own, other, words, receiver }: Stage,
  { programs, seconds, seed }: Manner,
): Promise<{ code: number; tally: Tally | undefined }> {
  const inFolder = (name: string) => join(folder, name);
  const published = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  writeFileSync(inFolder('openapi.json'), JSON.stringify(fuzzedDocument(published)));
  writeDictionaries(inFolder('dictionaries'), own, other, receiver.host);
  // Beside the dictionaries, which it names relative to itself; it is found where schemathesis is started.
  copyFileSync(join(here, 'schemathesis.toml'), inFolder('schemathesis.toml'));
  const tally = inFolder('tally.json');
  writeFileSync(
    inFolder('stage.json'),
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
      FUZZ_STAGE: inFolder('stage.json'),
      FUZZ_TOKEN: own.token,
    },
  });
  const timer = setTimeout(() => void run.stop(), (seconds + 30) * 1000);
  const code = await run.ended;
  clearTimeout(timer);
  return { code, tally: existsSync(tally) ? (JSON.parse(readFileSync(tally, 'utf8')) as Tally) : undefined };
}

/** The ids and names of everything that an organization was given. */
function thingsOf({ name: _, token: __, api: ___, ...things }: Stage['own']): string[] {
  return Object.values(things).flat();
}
