import { join } from 'node:path';
import type { TaskFilter } from '../../lib/table/tasks/task-items.ts';
import type { Bench, Part } from './bench.ts';
import { figure, percentile, spread } from './figures.ts';
import { listFilters } from './list-boards.ts';
import { type Measured, type Readings, readLists } from './list-runs.ts';
import { openListTable } from './list-table.ts';
import type { Table } from './page.ts';

/** What the first page of the largest board may be of that of the smallest (the goals of the lists). */
const goals = { rcu: 2, time: 4 };

const whole: Readings = { runs: 5, firstPage: 10, further: 3 };

/** The tables that are only read: kept here, for writing them takes longer than reading them. */
const folder = '.bench';

/** Pages of lists of boards of 100 to 100,000 tasks: their time, their requests and their capacity units. */
export const lists: Part = {
  name: 'lists',
  numbers: {
    ...{ rcuRatio: goals.rcu, timeRatio: goals.time },
    ...{ listRuns: whole.runs, firstPage: whole.firstPage, further: whole.further },
  },
  async measure(bench) {
    const counts = bench.quick ? [100, 1_000] : [100, 1_000, 10_000, 100_000];
    const table = await openListTable(bench, join(folder, bench.quick ? 'lists-quick' : 'lists'), counts);
    const measured = await readLists(bench, table, bench.quick ? { runs: 1, firstPage: 2, further: 1 } : whole);
    return { lists: goalsTable(measured, bench), pages: pagesTable(measured) };
  },
};

const timeOf = ({ runs }: Measured) => percentile(runs, 0.5);

/** A first page of the smallest and of the largest board, through the same filter. */
function extremes(measured: readonly Measured[], filter: TaskFilter): [Measured, Measured] {
  const pages = measured.filter((page) => page.filter === filter && page.offset === 0);
  return [pages[0] as Measured, pages.at(-1) as Measured];
}

/**
 * How much dearer the first page is on the largest board.
 *
 * @throws Error if it takes more capacity units than allowed; they do not depend on the machine
 */
function goalsTable(measured: readonly Measured[], { quick }: Bench): Table {
  const rows = listFilters.map((filter) => {
    const [small, large] = extremes(measured, filter);
    const [rcu, time] = [large.cost.rcu / small.cost.rcu, timeOf(large) / timeOf(small)];
    if (!quick && rcu > goals.rcu)
      throw new Error(
        `The first page of ${nameOf(filter)} takes ${figure(rcu, 1)} times the read units on the largest board.`,
      );
    const cpu = [small, large].map(({ cpuMs }) => figure(cpuMs, 1)).join(' → ');
    return [
      nameOf(filter),
      `${figure(small.cost.rcu, 1)} → ${figure(large.cost.rcu, 1)}`,
      `${figure(rcu, 2)} (${rcu <= goals.rcu ? 'met' : 'not met'})`,
      `${figure(timeOf(small), 1)} → ${figure(timeOf(large), 1)}`,
      `${figure(time, 2)} (${time <= goals.time ? 'met' : 'not met'})`,
      cpu,
    ];
  });
  return { head: ['filter', 'read units', 'ratio', 'ms', 'ratio', 'CPU ms'], rows };
}

function pagesTable(measured: readonly Measured[]): Table {
  return {
    head: ['tasks', 'filter', 'matched', 'offset', 'requests', 'rounds', 'read units', 'ms', 'CPU ms'],
    rows: measured.map(({ board, filter, total, offset, cost, runs, cpuMs }) => [
      figure(board.count),
      nameOf(filter),
      ...[total, offset, cost.requests, cost.rounds].map((count) => figure(count)),
      figure(cost.rcu, 1),
      spread(runs, 1),
      figure(cpuMs, 1),
    ]),
  };
}

/** A filter as a caller would say it. */
function nameOf(filter: TaskFilter): string {
  const names = Object.entries(filter).filter(([, value]) => value !== undefined);
  return names.length === 0 ? 'none' : names.map(([name]) => name).join(', ');
}
