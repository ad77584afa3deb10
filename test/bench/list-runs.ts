import { isDeepStrictEqual } from 'node:util';
import { contextOf, loadHandler } from '../../infra/local/functions.ts';
import { listTasks } from '../../lib/contract/tasks.ts';
import { environment } from '../../lib/deployment/environment.ts';
import type { ApiEvent, ApiResult } from '../../lib/http/api-event.ts';
import { log } from '../../lib/log.ts';
import { openTable } from '../../lib/table/client.ts';
import type { StoredTask, TaskFilter } from '../../lib/table/tasks/task-items.ts';
import { readTaskPage } from '../../lib/table/tasks/tasks.ts';
import { eventOf } from '../service.ts';
import { type Cost, meter } from '../table/fixtures/capacity.ts';
import { listed } from '../table/tasks/model.ts';
import type { Bench } from './bench.ts';
import { percentile } from './figures.ts';
import { listFilters, offsetsOf, pageSize, queryOf, tasksOfBoard } from './list-boards.ts';
import { type ListBoard, type ListTable, listTableName } from './list-table.ts';
import { cpuOfTree } from './process-stats.ts';

/** A page of a list: its board, filter and offset, and the total and the ids that it must have. */
type Wanted = { board: ListBoard; filter: TaskFilter; offset: number; deepest: boolean; total: number; ids: string[] };

/** A page and its cost: ms of each run (the median of its reads), and CPU ms of a read over all runs. */
export type Measured = Omit<Wanted, 'board' | 'ids'> & { tasks: number; cost: Cost; runs: number[]; cpuMs: number };

/** The number of runs, and of reads in a run of a first page and of a further one. */
export type Readings = { runs: number; firstPage: number; further: number };

/**
 * Reads every page of every board by the handler of `listTasks`, run after run. The boards take turns within a run, so
 * that a machine that slows down slows all. The first run is a warm-up and does not count.
 *
 * @throws Error if a page is wrong
 */
export async function readLists(
  bench: Bench,
  { endpoint, boards }: ListTable,
  readings: Readings,
): Promise<Measured[]> {
  process.env[environment.tableName] = listTableName;
  process.env[environment.dynamodbEndpoint] = endpoint;
  const handler = (await loadHandler('kanban-tasks', 'list-tasks')) as (
    event: ApiEvent,
    context: unknown,
  ) => Promise<ApiResult>;
  const read = (wanted: Wanted) => handler(eventFor(wanted), contextOf('list-tasks', 29));
  const wanted = inTurns(boards.map((board) => pagesOf(board, tasksOfBoard(board.count))));
  const costs = await costsOf(endpoint, wanted);

  const level = log().getLevelName();
  // A line for each request would hide the figures.
  log().setLogLevel('SILENT');
  const measured = wanted.map((page, at) => ({
    page,
    cost: costs[at] as Cost,
    runs: [] as number[],
    cpu: 0,
    reads: 0,
  }));
  try {
    for (const { page } of measured) rejectWrong(page, await read(page));
    for (let run = 0; run <= readings.runs; run++) {
      for (const one of measured) {
        const reads = one.page.offset === 0 ? readings.firstPage : readings.further;
        const before = cpuOfTree(process.pid);
        const times: number[] = [];
        for (let nth = 0; nth < reads; nth++) {
          const startedAt = performance.now();
          const { statusCode } = await read(one.page);
          times.push(performance.now() - startedAt);
          if (statusCode !== 200) throw new Error(`The status of a list is ${statusCode}.`);
        }
        if (run === 0) continue;
        one.cpu += cpuOfTree(process.pid) - before;
        one.reads += reads;
        one.runs.push(percentile(times, 0.5));
      }
      bench.say(run === 0 ? 'warmed up' : `run ${run} of ${readings.runs}`);
    }
  } finally {
    log().setLogLevel(level);
  }
  return measured.map(({ page: { board, ids: _, ...page }, cost, runs, cpu, reads }) => ({
    ...page,
    tasks: board.count,
    cost,
    runs,
    cpuMs: cpu / reads,
  }));
}

/** Returns all pages of a board that are read. */
function pagesOf(board: ListBoard, tasks: readonly StoredTask[]): Wanted[] {
  return listFilters.flatMap((filter) => {
    const ids = listed(tasks, filter);
    const total = ids.length;
    const { first, middle, deepest } = offsetsOf(total);
    return [first, ...(middle ? [middle] : []), deepest].map((offset) => ({
      board,
      filter,
      offset,
      deepest: offset === deepest,
      total,
      ids: ids.slice(offset, offset + pageSize),
    }));
  });
}

/** Returns the pages in an order that has those of one filter of all boards next to each other. */
function inTurns(boards: readonly Wanted[][]): Wanted[] {
  const place = ({ filter, offset, deepest }: Wanted) =>
    listFilters.indexOf(filter) * 3 + (offset === 0 ? 0 : deepest ? 2 : 1);
  return boards.flat().sort((a, b) => place(a) - place(b));
}

/** Returns the requests and the capacity units of each page, by the engine's own count. */
async function costsOf(endpoint: string, wanted: readonly Wanted[]): Promise<Cost[]> {
  const table = openTable(listTableName, endpoint);
  const { costOf } = meter(table);
  const costs: Cost[] = [];
  for (const { board, filter, offset } of wanted)
    costs.push(await costOf(() => readTaskPage({ table }, board.organization, filter, { limit: pageSize, offset })));
  return costs;
}

function eventFor({ board, filter, offset }: Wanted): ApiEvent {
  const { method, path } = listTasks;
  const query = [`limit=${pageSize}&offset=${offset}`, queryOf(filter)].filter(Boolean).join('&');
  return eventOf({ method, path, query, token: board.token });
}

function rejectWrong({ board, filter, offset, total, ids }: Wanted, { statusCode, body = '{}' }: ApiResult): void {
  const { data = [], pagination } = JSON.parse(body) as { data?: { id: string }[]; pagination?: { total: number } };
  if (isDeepStrictEqual([data.map(({ id }) => id), pagination?.total], [ids, total])) return;
  const asked = JSON.stringify({ tasks: board.count, filter, offset });
  throw new Error(`The list ${asked} is wrong; its status is ${statusCode}.`);
}
