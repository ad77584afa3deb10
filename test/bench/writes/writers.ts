import { environment } from '../../../lib/names/environment.ts';
import { maxShards, shardsAfterConflict, writesBeforeHalving } from '../../../lib/table/access/shards.ts';
import type { Bench, Part } from '../bench.ts';
import { forkFile } from '../forked.ts';
import { figure, percentile } from '../page/figures.ts';
import type { Table } from '../page/page.ts';
import { type Contention, lockWindowMs } from './conflicting-table.ts';
import type { Said as TableSaid } from './conflicting-table-process.ts';
import type { Load, Said, Written } from './writers-process.ts';

const tableName = 'bench';

/** A load, its writes and their conflicts. */
type Run = { load: Load; written: Written; contention: Contention };

/** The writes a second of one organization, and the conflicts of their transactions. */
export const writers: Part = {
  name: 'writers',
  numbers: {
    ...{ lockWindowMs, shardsAfterConflict, maxShards, writesBeforeHalving },
    writesPerSecond: figure(1 / (lockWindowMs / 1000)),
  },
  async measure(bench) {
    const ms = bench.quick ? 300 : 2_500;
    const run = await startWriters(bench);
    const measured = async (load: Load): Promise<Run> => {
      const result = await run(load);
      bench.say(`${load.write}, ${load.writers} at once: ${figure(mean(result.contention.attempts), 2)} attempts`);
      return result;
    };
    await run({ write: 'create', writers: 8, ms: ms / 3 });
    const runs: Run[] = [];
    for (const count of bench.quick ? [1, 8] : [1, 8, 32, 100])
      for (const write of ['create', 'move'] as const) runs.push(await measured({ write, writers: count, ms }));
    return { writers: tableOf(runs) };
  },
};

/** Starts the table that causes conflicts, and the writers. Returns a function that runs a load. */
async function startWriters(bench: Bench): Promise<(load: Load) => Promise<Run>> {
  const conflicting = forkFile<'take', TableSaid>(bench, new URL('./conflicting-table-process.ts', import.meta.url), {
    args: [tableName],
  });
  const { endpoint } = await conflicting.nextMessage<{ endpoint: string }>();
  const { PATH, HOME } = process.env;
  const where = { [environment.tableName]: tableName, [environment.dynamodbEndpoint]: endpoint };
  const writing = forkFile<Load, Said>(bench, new URL('./writers-process.ts', import.meta.url), {
    env: { PATH, HOME, ...where },
  });
  await writing.nextMessage();
  return async (load) => {
    await conflicting.ask('take');
    const written = await writing.ask<Written>(load);
    return { load, written, contention: await conflicting.ask<Contention>('take') };
  };
}

function tableOf(runs: readonly Run[]): Table {
  return {
    head: ['write', 'writers', 'a second', 'attempts, mean', 'p99', 'max', 'refused', 'CPU ms a write'],
    rows: runs.map(({ load, written, contention }) => [
      load.write,
      figure(load.writers),
      figure(written.perSecond),
      figure(mean(contention.attempts), 2),
      ...[0.99, 1].map((share) => figure(percentile(contention.attempts, share))),
      `${figure(written.refused)} of ${figure(written.refused + written.done)}`,
      figure(written.cpuMs / written.done, 1),
    ]),
  };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}
