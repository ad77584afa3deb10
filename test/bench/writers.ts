import { join } from 'node:path';
import { createTable } from '../../infra/local/engine/create-table.ts';
import { startEngine } from '../../infra/local/engine/engine.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { defaultShards, maxShards, writesBeforeHalving } from '../../lib/table/lists/shards.ts';
import { type Bench, createFolder, type Part } from './bench.ts';
import { type Contention, lockWindowMs } from './conflicting-engine.ts';
import type { Said as EngineSaid } from './conflicting-engine-process.ts';
import { figure, percentile } from './figures.ts';
import { forkFile } from './forked.ts';
import type { Section } from './page.ts';
import { cpuOfTree } from './process-stats.ts';
import type { Load, Said, Written } from './writers-process.ts';

const tableName = 'bench';

/** A load, its writes and conflicts, and the CPU time of the engine. */
type Run = { load: Load; written: Written; contention: Contention; engineMs: number };

/** The writes a second of one organization, and the conflicts of their transactions. */
export const writers: Part = {
  name: 'writers',
  async measure(bench) {
    const ms = bench.quick ? 300 : 2_500;
    const run = await openRunning(bench);
    const measured = async (load: Load): Promise<Run> => {
      const result = await run(load);
      bench.say(`${load.write}, ${load.writers} at once: ${figure(mean(result.contention.attempts), 2)} attempts`);
      return result;
    };
    await run({ write: 'create', writers: 8, ms: ms / 3 });
    const runs: Run[] = [];
    for (const count of bench.quick ? [1, 8] : [1, 8, 32, 100])
      for (const write of ['create', 'move'] as const) runs.push(await measured({ write, writers: count, ms }));
    return [sectionOf(runs)];
  },
};

/** Starts an engine, the proxy that causes conflicts, and the writers. Returns a function that runs a load. */
async function openRunning(bench: Bench): Promise<(load: Load) => Promise<Run>> {
  const folder = createFolder(bench);
  const engine = await startEngine({ database: join(folder, 'table.db'), log: join(folder, 'engine.log') });
  bench.atEnd(engine.stop);
  await createTable(engine.endpoint, tableName);
  const conflicting = forkFile<'take', EngineSaid>(bench, './conflicting-engine-process.ts', {
    args: [engine.endpoint],
  });
  const { endpoint } = await conflicting.nextMessage<{ endpoint: string }>();
  const { PATH, HOME } = process.env;
  const where = { [environment.tableName]: tableName, [environment.dynamodbEndpoint]: endpoint };
  const writing = forkFile<Load, Said>(bench, './writers-process.ts', { env: { PATH, HOME, ...where } });
  await writing.nextMessage();
  const engineCpu = () => {
    const { user, system } = process.cpuUsage();
    return cpuOfTree(process.pid, [conflicting.pid, writing.pid]) - (user + system) / 1000;
  };
  return async (load) => {
    await conflicting.ask('take');
    const before = engineCpu();
    const written = await writing.ask<Written>(load);
    const engineMs = engineCpu() - before;
    return { load, written, contention: await conflicting.ask<Contention>('take'), engineMs };
  };
}

function sectionOf(runs: readonly Run[]): Section {
  return {
    title: 'Writes a second to one organization',
    text: [
      `Writers that send one write after the other without a pause, all to one organization: each creates bare tasks, then moves its
own tasks from one status to another. They call the handlers of the endpoints in one process, over the real table engine.`,
      `The local engine never has conflicts between transactions. A proxy in front of it causes them as DynamoDB does: a transaction
holds its items for ${lockWindowMs} ms, and any other transaction on one of them gets \`TransactionCanceledException\` with the reason
\`TransactionConflict\`. AWS publishes no such time. Seen from a Lambda function a transaction of 5 items takes 25.3 ms and a
single put 7.6 (medians of 400, github.com/alexdebrie/dynamodb-performance-testing); the difference is taken for the time in
which the items are held. Attempts: the tries of a transaction, including those that failed after 8 tries (refused, 503). The
goal: at most 1.3 for 100 writers.`,
      `The counters of a list have ${defaultShards} shards, and a task’s shard follows from its id: at most ${figure(defaultShards / (lockWindowMs / 1000))} writes a second could pass.
A writer that has a conflict on a list’s counters doubles its number of shards there, up to ${maxShards}, and halves it after ${writesBeforeHalving} writes
without a conflict. In Lambda each container learns that by itself; here the writers are one process and share it
(\`test/table/tasks/contention.slow.test.ts\` has 100 separate ones, and tasks of an agent).
DynamoDB itself takes 1,000 write units a second in a partition, which are 250 new tasks of one organization.`,
      `CPU is user and system time of the writers’ process, and of the table engine, for each successful write. The proxy is a third
process.`,
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
      ],
      rows: runs.map(({ load, written, contention, engineMs }) => [
        load.write,
        figure(load.writers),
        figure(written.perSecond),
        figure(mean(contention.attempts), 2),
        ...[0.99, 1].map((share) => figure(percentile(contention.attempts, share))),
        `${figure(written.refused)} of ${figure(written.refused + written.done)}`,
        figure(written.cpuMs / written.done, 1),
        figure(engineMs / written.done, 1),
      ]),
    },
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
