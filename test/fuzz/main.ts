import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem } from '../../infra/problem.ts';
import { installPrograms, NoPython } from '../processes/python.ts';
import { fuzz } from './fuzz.ts';

const usage = 'Usage: npm run fuzz -- [--minutes N] [--seed N], each a whole number.';

/** The exit code for "skipped" of test runners (Automake, Meson). */
const skipped = 77;

/** `npm run fuzz`: sends random requests by the OpenAPI document to the local service. Exits with 1 on any finding. */
async function main(args: string[]): Promise<number> {
  const { minutes, seed } = readArguments(args);
  const programs = await installPrograms(join(import.meta.dirname, '..', '..', '.fuzz'), {
    what: 'schemathesis',
    requirements: join(import.meta.dirname, 'requirements.txt'),
  });
  console.log(`${minutes} min of requests; --seed ${seed} repeats the same requests.`);
  const findings = await fuzz({ programs, seconds: minutes * 60, seed });
  console.log(findings.length === 0 ? 'No findings.' : `\n${findings.length} findings:\n${findings.join('\n')}`);
  return findings.length === 0 ? 0 : 1;
}

function readArguments(args: string[]): { minutes: number; seed: number } {
  const read = (text: string | undefined, fallback: number) => (text === undefined ? fallback : Number(text));
  try {
    const { values } = parseArgs({ args, options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
    const [minutes, seed] = [read(values.minutes, 10), read(values.seed, randomInt(1_000_000))];
    if (!Number.isSafeInteger(minutes) || minutes < 1) throw new Error('--minutes must be a whole number from 1.');
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number from 0.');
    return { minutes, seed };
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n${usage}`);
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (error instanceof NoPython) console.error(`Skipped. ${error.message}`);
    else console.error(error instanceof Problem ? error.message : error);
    process.exit(error instanceof NoPython ? skipped : 1);
  },
);
