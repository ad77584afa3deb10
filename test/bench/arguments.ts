import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem } from '../../infra/problem.ts';
import type { Part } from './bench.ts';
import { goals } from './goals.ts';
import { lists } from './lists.ts';
import { peers } from './peers/peers.ts';
import { steady } from './steady.ts';
import { writers } from './writes/writers.ts';

/** The parts that are measured without arguments. */
export const defaultParts: readonly Part[] = [goals, lists, writers];

const parts: readonly Part[] = [...defaultParts, peers, steady];

const usage = `Usage: npm run bench -- [--quick] [${parts.map(({ name }) => name).join('] [')}]
       npm run bench -- goals --beside FOLDER
Without arguments all parts but peers and steady are measured, and docs/benchmarks.md is written except for the section of
peers, which the part peers writes. steady takes half an hour. --beside measures the goals of the service of another checkout as well, in turns with this one.`;

/** The arguments of the command: the parts to measure, whether in a quick run, and another checkout for the goals. */
export type BenchArguments = { quick: boolean; beside: string | undefined; chosen: readonly Part[] };

/**
 * Reads the arguments of the command.
 *
 * @throws `Problem` with the usage
 */
export function readArguments(args: string[]): BenchArguments {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { quick: { type: 'boolean' }, beside: { type: 'string' } },
      allowPositionals: true,
    });
    const unknown = positionals.find((name) => parts.every((part) => part.name !== name));
    if (unknown) throw new Error(`There is no part ${JSON.stringify(unknown)}.`);
    if (values.beside && positionals.join() !== goals.name) throw new Error('--beside is for the part goals only.');
    const chosen = positionals.length === 0 ? defaultParts : parts.filter(({ name }) => positionals.includes(name));
    return { quick: values.quick ?? false, beside: values.beside && resolve(values.beside), chosen };
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n${usage}`);
  }
}
