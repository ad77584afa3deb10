import { isDeepStrictEqual } from 'node:util';
import { environment } from '../../lib/deployment/environment.ts';
import { setLog } from '../../lib/log.ts';
import { openTable } from '../../lib/table/client.ts';
import type { TaskFilter } from '../../lib/table/tasks/task-items.ts';
import { readTaskPage } from '../../lib/table/tasks/tasks.ts';
import { createApi, dataOf, paginationOf } from '../api.ts';
import type { Answer } from '../service.ts';
import { type Cost, meter } from '../table/fixtures/capacity.ts';
import { listed } from '../table/tasks/model.ts';
import type { Bench } from './bench.ts';
import { percentile } from './figures.ts';
import { listFilters, offsetsOf, pageSize, queryOf, tasksOfBoard } from './list-boards.ts';
import { type ListBoard, listTableName } from './list-table.ts';
import { cpuOfTree } from './process-stats.ts';

/** A page of a list: its board, filter and offset, and the total and the ids that it must have. */
type Page = { board: ListBoard; filter: TaskFilter; offset: number; total: number; ids: string[] };

/** A page and its cost: ms of each run (the median of its reads), and CPU ms of a read over all runs. */
export type Measured = Page & { cost: Cost; runs: number[]; cpuMs: number };

/** The number of runs, and of reads in a run of a first page and of a further one. */
export type Readings = { runs: number; firstPage: number; further: number };

/**
 * Reads every page of every board by the handler of `listTasks`, run after run. The boards take turns within a run, so
 * that a machine that slows down slows all. The first run is a warm-up and does not count.
 *
 * @throws Error if a page is wrong
 */
export async function readLists(
  { say }: Bench,
  { endpoint, boards }: { endpoint: string; boards: readonly ListBoard[] },
  readings: Readings,
): Promise<Measured[]> {
  process.env[environment.tableName] = listTableName;
  process.env[environment.dynamodbEndpoint] = endpoint;
  // A line of log for each request would hide the figures.
  setLog({ info: () => {}, warn: () => {}, error: () => {} });
  const pages = pagesOf(boards);
  const costs = await costsOf(endpoint, pages);
  for (const page of pages) rejectWrong(page, await read(page));
  const measured = pages.map((page, at) => ({ ...page, cost: costs[at] as Cost, runs: [] as number[], cpuMs: 0 }));
  for (let run = 0; run <= readings.runs; run++) {
    for (const page of measured) {
      const reads = page.offset === 0 ? readings.firstPage : readings.further;
      const before = cpuOfTree(process.pid);
      const times: number[] = [];
      for (let nth = 0; nth < reads; nth++) {
        const startedAt = performance.now();
        const { status } = await read(page);
        times.push(performance.now() - startedAt);
        if (status !== 200) throw new Error(`The status of a list is ${status}.`);
      }
      if (run === 0) continue;
      page.cpuMs += (cpuOfTree(process.pid) - before) / reads / readings.runs;
      page.runs.push(percentile(times, 0.5));
    }
    say(run === 0 ? 'warmed up' : `run ${run} of ${readings.runs}`);
  }
  return measured;
}

/** Returns the measured pages of all boards. Those of one filter and of the same place are next to each other. */
function pagesOf(boards: readonly ListBoard[]): Page[] {
  const ofBoards = boards.map((board) => ({ board, tasks: tasksOfBoard(board.count) }));
  return listFilters.flatMap((filter) => {
    const lists = ofBoards.map(({ board, tasks }) => ({ board, ids: listed(tasks, filter) }));
    return (['first', 'middle', 'deepest'] as const).flatMap((place) =>
      lists.flatMap(({ board, ids }): Page[] => {
        const offset = offsetsOf(ids.length)[place];
        if (offset === undefined) return [];
        return [{ board, filter, offset, total: ids.length, ids: ids.slice(offset, offset + pageSize) }];
      }),
    );
  });
}

/** Returns the requests and the capacity units of each page, by the engine's own count. */
async function costsOf(endpoint: string, pages: readonly Page[]): Promise<Cost[]> {
  const table = openTable(listTableName, endpoint);
  const { costOf } = meter(table);
  const costs: Cost[] = [];
  for (const { board, filter, offset } of pages)
    costs.push(await costOf(() => readTaskPage({ table }, board.organization, filter, { limit: pageSize, offset })));
  return costs;
}

function read({ board, filter, offset }: Page): Promise<Answer> {
  const query = [`limit=${pageSize}&offset=${offset}`, queryOf(filter)].filter(Boolean).join('&');
  return createApi(board.token).listTasks({ query });
}

function rejectWrong({ board, filter, offset, total, ids }: Page, answer: Answer): void {
  const read = answer.status === 200 && {
    ids: dataOf<{ id: string }[]>(answer).map(({ id }) => id),
    total: paginationOf(answer).total,
  };
  if (isDeepStrictEqual(read, { ids, total })) return;
  const asked = JSON.stringify({ tasks: board.count, filter, offset });
  throw new Error(`The list ${asked} is wrong; its status is ${answer.status}.`);
}
