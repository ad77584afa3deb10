import type { Bench, Part } from './bench.ts';
import { putBoard } from './board-folder.ts';
import { figure, spread } from './figures.ts';
import { idleCpuOf } from './idle.ts';
import type { Section } from './page.ts';
import { cpuOfTree } from './process-cpu.ts';
import { type Memory, memoryOf, processNamed } from './process-memory.ts';
import { startReceiver } from './receiver.ts';
import { play, type Run } from './scenario.ts';
import { startService } from './service.ts';
import { temporaryFolder } from './temporary-folder.ts';

const load = { perSecond: 50, webhooks: 1, hanging: 0 };

/** How often memory is looked at under load, in ms. */
const lookEveryMs = 500;

/** A start: how long it took to `ready`, and the CPU time until then, in ms. */
type Start = { readyMs: number; cpuMs: number };

/** What the service and its table engine have in memory. */
type Looked = { service: Memory; engine: Memory };

/** How long the service takes to start, what it has in memory, and what it takes while nobody asks anything of it. */
export const start: Part = {
  name: 'start',
  async measure(bench) {
    const tasks = bench.quick ? 200 : 10_000;
    const empty = await startsOn(bench, 'an empty data folder', () => temporaryFolder(bench));
    const folder = temporaryFolder(bench);
    bench.say(`writing a board of ${figure(tasks)} tasks`);
    await putBoard(folder, tasks);
    // The first start on a folder makes its token.
    await (await startService(bench, folder)).stop();
    const full = await startsOn(bench, `${figure(tasks)} tasks`, () => folder);
    return [startSection(tasks, empty, full), memorySection(await measureMemory(bench))];
  },
};

async function startsOn(bench: Bench, on: string, folder: () => string): Promise<Start[]> {
  const starts: Start[] = [];
  const runs = bench.quick ? 1 : 5;
  for (let run = 1; run <= runs; run++) {
    const service = await startService(bench, folder());
    starts.push({ readyMs: service.readyMs, cpuMs: cpuOfTree(service.pid) });
    bench.say(`${on}, start ${run} of ${runs}: ${figure(service.readyMs)} ms`);
    await service.stop();
  }
  return starts;
}

/** The service at rest and under load, in time and memory. */
type Measured = { idle: number; rest: Looked; greatest: Looked; after: Looked; outcome: Run; seconds: number };

async function measureMemory(bench: Bench): Promise<Measured> {
  const receiver = await startReceiver(bench);
  const service = await startService(bench);
  const engine = processNamed('dynoxide', service.pid);
  const look = (): Looked => ({ service: memoryOf(service.pid), engine: memoryOf(engine) });
  const idle = await idleCpuOf(service, bench.quick ? 1 : 5);
  const rest = look();
  bench.say(`at rest the service has ${figure(rest.service.rss)} MiB and takes ${figure(idle * 100, 1)} % of a core`);
  const looks = [rest];
  const timer = setInterval(() => looks.push(look()), lookEveryMs);
  const seconds = bench.quick ? 1 : 20;
  const [outcome] = await play({ service, receiver, idle }, load, {
    warmUpSeconds: bench.quick ? 1 : 2,
    runs: 1,
    seconds,
  }).finally(() => clearInterval(timer));
  return { idle, rest, greatest: greatestOf(looks), after: look(), outcome: outcome as Run, seconds };
}

function greatestOf(looks: readonly Looked[]): Looked {
  const greatest = (of: (one: Looked) => number) => Math.max(...looks.map(of));
  const memory = (process: keyof Looked): Memory => ({
    rss: greatest((one) => one[process].rss),
    pss: greatest((one) => one[process].pss),
  });
  return { service: memory('service'), engine: memory('engine') };
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

function memorySection({ idle, rest, greatest, after, outcome, seconds }: Measured): Section {
  const row = (name: string, { service, engine }: Looked) => [
    name,
    ...[service.rss, service.pss, engine.rss, engine.pss].map((mebibytes) => figure(mebibytes)),
  ];
  return {
    title: 'Memory at rest and under load',
    text: [
      `The service that has just started, at rest and while ${load.perSecond} tasks a second are created for ${seconds} s, each told to a webhook:
resident memory (RSS) and the fair share of it (Pss), by \`/proc/PID/smaps_rollup\`, looked at every ${figure(lookEveryMs)} ms; each
greatest value by itself. It is right after the last delivery that the load is over. The idle service took
${figure(idle * 100, 1)} % of a core, its table engine among it; under the load it took ${figure(outcome.cpuMs, 1)} ms of CPU more for each task with
its delivery, while the machine was ${figure(outcome.busy * 100)} % busy.`,
    ],
    table: {
      head: ['', 'service RSS MiB', 'Pss MiB', 'table engine RSS MiB', 'Pss MiB'],
      rows: [row('at rest', rest), row('greatest under load', greatest), row('right after it', after)],
    },
  };
}
