import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Problem } from '../../infra/local/problem.ts';
import type { Bench, Part } from './bench.ts';
import { goals } from './goals.ts';
import { lists } from './lists.ts';
import { circumstances } from './machine.ts';
import { pageOf, type Table, tableOf } from './page.ts';
import { writers } from './writers.ts';

const parts: readonly Part[] = [goals, lists, writers];

const page = 'docs/benchmarks.md';

/** The longest time of all parts, in seconds. */
const boundSeconds = { whole: 1_800, quick: 300 };

const usage = `Usage: npm run bench -- [--quick] [${parts.map(({ name }) => name).join('] [')}]
       npm run bench -- goals --beside FOLDER
Without arguments all parts are measured and ${page} is written. --beside measures the goals of the service of another
checkout as well, in turns with this one.`;

/** `npm run bench`: measures the parts that are named, or all of them, which writes the page of benchmarks. */
async function main(args: string[]): Promise<void> {
  const { quick, beside, chosen } = readArguments(args);
  const seen = circumstances();
  const stops: (() => unknown)[] = [];
  const stopAll = async () => {
    for (const one of stops.reverse()) await one();
  };
  // Once only: a measurement fails while it is being stopped, and must not end the process before everything is stopped.
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      await stop();
      process.exit(1);
    });
  const bench: Omit<Bench, 'say'> = { quick, ...(beside && { beside }), atEnd: (one) => stops.push(one) };
  const bound = quick ? boundSeconds.quick : boundSeconds.whole;
  const late = pause(bound * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`The benchmark took longer than ${bound} s.`);
  });
  try {
    const tables = await Promise.race([measure(chosen, bench), late]);
    const shown = Object.entries(tables).map(([name, table]) => [name, tableOf(table)] as const);
    for (const [name, table] of shown) console.log(`\n${name}, as docs/benchmarks.md explains:\n\n${table}`);
    if (quick || chosen.length < parts.length) return;
    const machine = tableOf({ head: ['Where and when', ''], rows: Object.entries(seen) });
    const numbers = parts.map((part) => part.numbers);
    writeFileSync(page, pageOf({ machine, ...Object.assign({}, ...numbers), ...Object.fromEntries(shown) }));
    console.log(`\n${page} is written.`);
  } finally {
    await stop();
  }
}

function readArguments(args: string[]): { quick: boolean; beside: string | undefined; chosen: readonly Part[] } {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { quick: { type: 'boolean' }, beside: { type: 'string' } },
      allowPositionals: true,
    });
    const unknown = positionals.find((name) => parts.every((part) => part.name !== name));
    if (unknown) throw new Error(`There is no part ${JSON.stringify(unknown)}.`);
    if (values.beside && positionals.join() !== goals.name) throw new Error('--beside is for the part goals only.');
    const chosen = parts.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    return { quick: values.quick ?? false, beside: values.beside && resolve(values.beside), chosen };
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n${usage}`);
  }
}

async function measure(chosen: readonly Part[], bench: Omit<Bench, 'say'>): Promise<Record<string, Table>> {
  const tables: Record<string, Table> = {};
  for (const { name, measure } of chosen)
    Object.assign(tables, await measure({ ...bench, say: (line) => console.log(`${name}: ${line}`) }));
  return tables;
}

main(process.argv.slice(2)).then(
  // The connections of the table's clients would keep this process running.
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Problem ? error.message : error);
    process.exit(1);
  },
);
