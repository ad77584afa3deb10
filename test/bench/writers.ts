import { join } from 'node:path';
import { createTable } from '../../infra/local/engine/create-table.ts';
import { startEngine } from '../../infra/local/engine/engine.ts';
import { qaReviewer } from '../../lib/agents/system-agents.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { keys } from '../../lib/table/keys.ts';
import { defaultShards, maxShards, writesBeforeHalving } from '../../lib/table/shards.ts';
import type { Bench, Part } from './bench.ts';
import { type Contention, lockWindowMs } from './conflicting-engine.ts';
import type { Said as EngineSaid } from './conflicting-engine-process.ts';
import { figure, spread } from './figures.ts';
import { forkFile } from './forked.ts';
import { busyShare, coreTimes } from './machine-busy.ts';
import type { Section } from './page.ts';
import { percentile } from './percentile.ts';
import { cpuOfTree } from './process-cpu.ts';
import { ratesOf } from './slices.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { Load, Said, Written } from './writers-process.ts';

const tableName = 'bench';

/** The rate is told of so many slices of a load: their median, the least and the greatest. */
const slices = 5;

/** The agent that every organization has, for tasks that are all one agent's. */
const agent = qaReviewer;

/** A load, what was written and what it met, the CPU time of the engine, and how busy the machine was. */
type Run = { load: Load; written: Written; contention: Contention; engineMs: number; busy: number };

/** How many writes a second one organization takes, and how often their transactions conflict. */
export const writers: Part = {
  name: 'writers',
  async measure(bench) {
    const ms = bench.quick ? 300 : 2_500;
    const run = await openRunning(bench);
    const carriedOut = async (load: Load): Promise<Run> => {
      const result = await run(load);
      bench.say(`${nameOf(load)}, ${load.writers} at once: ${figure(mean(result.contention.attempts), 2)} attempts`);
      return result;
    };
    await run({ write: 'create', writers: 8, ms: ms / 3, agent: undefined });
    const runs: Run[] = [];
    for (const whose of [undefined, agent])
      for (const count of bench.quick ? [1, 8] : [1, 8, 32, 100])
        for (const write of ['create', 'move'] as const)
          runs.push(await carriedOut({ write, writers: count, ms, agent: whose }));
    return [sectionOf(runs)];
  },
};

/** Starts an engine, the conflicts on it and the writers. The answer carries a load out. */
async function openRunning(bench: Bench): Promise<(load: Load) => Promise<Run>> {
  const folder = temporaryFolder(bench);
  const engine = await startEngine({ database: join(folder, 'table.db'), log: join(folder, 'engine.log') });
  bench.atEnd(engine.stop);
  await createTable(engine.endpoint, tableName);
  const conflicting = forkFile<'take', EngineSaid>(bench, './conflicting-engine-process.ts', {
    args: [engine.endpoint],
  });
  const { endpoint } = await conflicting.hear<{ endpoint: string }>();
  const { PATH, HOME } = process.env;
  const where = { [environment.tableName]: tableName, [environment.dynamodbEndpoint]: endpoint };
  const writing = forkFile<Load, Said>(bench, './writers-process.ts', { env: { PATH, HOME, ...where } });
  await writing.hear();
  const engineCpu = () => {
    const { user, system } = process.cpuUsage();
    return cpuOfTree(process.pid, [conflicting.pid, writing.pid]) - (user + system) / 1000;
  };
  return async (load) => {
    await conflicting.ask('take');
    const before = { cpu: engineCpu(), cores: coreTimes() };
    const written = await writing.ask<Written>(load);
    const engineMs = engineCpu() - before.cpu;
    const busy = busyShare(before.cores, coreTimes());
    return { load, written, contention: await conflicting.ask<Contention>('take'), engineMs, busy };
  };
}

function sectionOf(runs: readonly Run[]): Section {
  return {
    title: 'Writes a second to one organization',
    text: [
      `Writers that write one after the other, without a pause, all to one organization: creates of a bare task, then moves of
its own tasks from one status to another; first of tasks that are nobody’s, then of tasks that are all one agent’s. They
call the handlers of the endpoints in one process, over the real table engine.`,
      `The local engine never has transactions conflict, so they are made to on the way to it: a transaction holds its items
for ${lockWindowMs} ms, in which any other on one of them is answered \`TransactionCanceledException\` with \`TransactionConflict\` as its
reason, as DynamoDB does, whatever time the engine takes, which carries out one at a time. AWS publishes no such time. Seen from a Lambda function a transaction of 5 items takes 25.3 ms and
a single put 7.6 (medians of 400, github.com/alexdebrie/dynamodb-performance-testing); the rest of it is taken for the time
in which its items are held. Attempts: how often a transaction was tried, those that were given up after 8 tries (refused,
503) among them. The goal: 1.3 at most for 100 writers of nobody’s tasks.`,
      `The counters of a list have ${defaultShards} lanes, and a task’s is by its id: no more than ${figure(defaultShards / (lockWindowMs / 1000))} writes a second could pass.
A writer who meets another over a list’s counters spreads what it writes there over twice the lanes, ${maxShards} at most, and
over half as many after ${writesBeforeHalving} writes without a meeting. In Lambda each
container learns that by itself; here the writers are one process and learn it together
(\`test/table/contention.slow.test.ts\` has 100 that each learn by themselves). An agent’s own list is spread to the same
lane as the organization’s: who has the one free mostly has the other. DynamoDB itself takes 1,000 write units a second to
a partition, which are 250 new tasks of one organization.`,
      `Rate: the median of ${slices} slices of a load, in brackets the least and the greatest. CPU is user and system time of the process
of the writers, and of the table engine, a write that succeeded. Machine busy: the share of all cores’ time, with
whatever ran; the engine with its conflicts is a third process.`,
      'Repeat: `npm run bench -- writers`.',
    ],
    table: {
      head: [
        'write',
        'writers',
        'a second',
        'attempts, mean',
        'p99',
        'max',
        'refused',
        'CPU ms a write, writers',
        'table engine',
        'conflicts on',
        'machine busy',
      ],
      rows: runs.map(({ load, written, contention, engineMs, busy }) => [
        nameOf(load),
        figure(load.writers),
        spread(ratesOf(written.doneAt, load.ms, slices)),
        figure(mean(contention.attempts), 2),
        ...[0.99, 1].map((share) => figure(percentile(contention.attempts, share))),
        `${figure(written.refused)} of ${figure(written.refused + written.doneAt.length)}`,
        figure(written.cpuMs / written.doneAt.length, 1),
        figure(engineMs / written.doneAt.length, 1),
        conflictsIn(contention, written),
        `${figure(busy * 100)} %`,
      ]),
    },
  };
}

/** Which items conflicts were met on, in parts of all. */
function conflictsIn({ conflicts }: Contention, { organization }: Written): string {
  const all = Object.values(conflicts).reduce((sum, one) => sum + one, 0);
  if (all === 0) return 'none';
  const [ofAll, ofAgent] = [{}, { agent }].map((filter) => keys.taskScope(organization, filter).counters);
  const named = {
    'all tasks’ counters': conflicts[ofAll as string] ?? 0,
    'the agent’s': conflicts[ofAgent as string] ?? 0,
  };
  const others = all - Object.values(named).reduce((sum, one) => sum + one, 0);
  return Object.entries({ ...named, 'other items': others })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${figure((count / all) * 100)} %`)
    .join(', ');
}

function nameOf({ write, agent }: Load): string {
  return `${write}, ${agent ? 'one agent’s' : 'nobody’s'}`;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
