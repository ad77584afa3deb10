import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../infra/problem.ts';
import { defaultParts, readArguments } from './arguments.ts';
import { type Bench, createEnd, type Part } from './bench.ts';
import { circumstances } from './page/machine.ts';
import { fillIn, pageOf, sectionOf, type Table, tableOf } from './page/page.ts';
import { peers, sectionText } from './peers/peers.ts';
import { steady } from './steady.ts';

const page = 'docs/benchmarks.md';

/** The longest time of all parts, of a long part or with it, and of a quick run, in seconds. */
const boundSeconds = { whole: 1_800, long: 3_600, quick: 300 };

/** `npm run bench`: measures the parts that are named, or all of them, which writes the page of benchmarks. */
async function main(args: string[]): Promise<void> {
  const { quick, beside, chosen } = readArguments(args);
  const seen = circumstances();
  // Once only: a measurement fails while it is being stopped, and must not end the process before everything is stopped.
  const { atEnd, stop } = createEnd();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      await stop();
      process.exit(1);
    });
  const bench: Omit<Bench, 'say'> = { quick, ...(beside && { beside }), atEnd };
  const isLong = chosen.includes(peers) || chosen.includes(steady);
  const bound = boundSeconds[quick ? 'quick' : isLong ? 'long' : 'whole'];
  const late = pause(bound * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`The benchmark took longer than ${bound} s.`);
  });
  try {
    const tables = await Promise.race([measure(chosen, bench), late]);
    const shown = Object.entries(tables).map(([name, table]) => [name, tableOf(table)] as const);
    for (const [name, table] of shown) console.log(`\n${name}, as docs/benchmarks.md explains:\n\n${table}`);
    const isWhole = defaultParts.every((part) => chosen.includes(part));
    if (quick || !(isWhole || chosen.includes(peers))) return;
    const machine = tableOf({ head: ['Where and when', ''], rows: Object.entries(seen) });
    const written = readFileSync(page, 'utf8');
    const before = sectionOf(written, sectionText);
    const contentsOf = (some: readonly Part[]) =>
      Object.assign({ machine }, ...some.map((part) => part.numbers), Object.fromEntries(shown));
    const section = chosen.includes(peers) ? fillIn(sectionText, contentsOf([peers])) : before;
    writeFileSync(
      page,
      isWhole ? pageOf({ ...contentsOf(defaultParts), peers: section }) : written.replace(before, () => section),
    );
    console.log(`\n${page} is written.`);
  } finally {
    await stop();
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
