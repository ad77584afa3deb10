import type { Bench, Part } from './bench.ts';
import { putBoard } from './board-folder.ts';
import { figure, spread } from './figures.ts';
import type { Section } from './page.ts';
import { cpuOfTree } from './process-cpu.ts';
import { startService } from './service.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A start: how long it took to `ready`, and the CPU time until then, in ms. */
type Start = { readyMs: number; cpuMs: number };

/** How long the service takes to start. */
export const start: Part = {
  name: 'start',
  async measure(bench) {
    const tasks = bench.quick ? 200 : 10_000;
    const empty = await startsOn(bench, 'an empty data folder', () => temporaryFolder(bench));
    const folder = temporaryFolder(bench);
    bench.say(`writing a board of ${figure(tasks)} tasks`);
    await putBoard(folder, tasks);
    // The first start on a folder makes its token.
    await (await startService(bench, { dataFolder: folder })).stop();
    const full = await startsOn(bench, `${figure(tasks)} tasks`, () => folder);
    return [startSection(tasks, empty, full)];
  },
};

async function startsOn(bench: Bench, on: string, folder: () => string): Promise<Start[]> {
  const starts: Start[] = [];
  const runs = bench.quick ? 1 : 5;
  for (let run = 1; run <= runs; run++) {
    const service = await startService(bench, { dataFolder: folder() });
    starts.push({ readyMs: service.readyMs, cpuMs: cpuOfTree(service.pid) });
    bench.say(`${on}, start ${run} of ${runs}: ${figure(service.readyMs)} ms`);
    await service.stop();
  }
  return starts;
}

function startSection(tasks: number, empty: readonly Start[], full: readonly Start[]): Section {
  const row = (name: string, starts: readonly Start[]) => [
    name,
    spread(starts.map(({ readyMs }) => readyMs)),
    spread(starts.map(({ cpuMs }) => cpuMs)),
  ];
  return {
    title: 'From the start to ready',
    text: [
      `From the start of \`node infra/local/main.ts\` to its line \`ready\`: on a data folder that is empty, for which the engine
makes its database and the service its table and first token; and on one with a board of ${figure(tasks)} tasks. CPU is user and
system time of the service and its table engine until then; the engine that has only made the database has ended by then,
and is not in it. Median of ${full.length} starts, in brackets the least and the greatest.`,
      'Repeat: `npm run bench -- start`.',
    ],
    table: { head: ['data folder', 'ms', 'CPU ms'], rows: [row('empty', empty), row(`${figure(tasks)} tasks`, full)] },
  };
}
