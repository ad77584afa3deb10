import { setLog } from '../../lib/context/log.ts';
import { createApi, paginationOf, successOf } from '../api.ts';
import type { Bench, Part } from './bench.ts';
import { type ListBoard, type ListFilter, listFilters, writeBoards } from './list-boards.ts';
import { figure, percentile, spread } from './page/figures.ts';

/** The goal: the time of the first page of the largest board, as a multiple of the time of the smallest. */
const timeRatio = 4;

/** The goals: the CPU time of the first page of the smallest and of the largest board, in ms. */
const mostCpuMs = { smallest: 1, largest: 1.5 };

const pageSize = 20;

/** The number of runs, and of reads in a run of a first page and of the deepest. */
const whole = { runs: 5, firstPage: 10, deepest: 3 };
const quick: typeof whole = { runs: 1, firstPage: 2, deepest: 1 };

/** The measured searches: words of every title, and a word of none, for which a request reads as many entries as it may. */
const searches = { 'of all titles': 'task', 'of no title': 'zeppelin' } as const;

/** A page and its cost: ms of each run (the median of its reads), and CPU ms of a read over all runs. */
type Page = { board: ListBoard; filter: ListFilter; offset: number; runs: number[]; cpuMs: number };

/** Pages of lists of boards of 100 to 100,000 tasks. What they cost in AWS is tested by `list-costs.slow.test.ts`. */
export const lists: Part = {
  name: 'lists',
  numbers: {
    ...{ timeRatio, smallestCpuMs: mostCpuMs.smallest, largestCpuMs: mostCpuMs.largest },
    ...{ listRuns: whole.runs, firstPage: whole.firstPage, further: whole.deepest },
  },
  async measure(bench) {
    // A line of log for each request would hide the figures.
    setLog({ info: () => {}, warn: () => {}, error: () => {} });
    const boards = await writeBoards(bench, bench.quick ? [100, 1_000] : [100, 1_000, 10_000, 100_000]);
    const all = (await Promise.all(boards.map(pagesOf))).flat();
    // The boards take turns.
    const pages = Object.keys(listFilters).flatMap((filter) => all.filter((page) => page.filter === filter));
    await readPages(bench, pages);
    const searched = await measureSearches(bench, boards);
    const rows = pages.map(({ board, filter, offset, runs, cpuMs }) => [
      ...[figure(board.count), filter, figure(offset)],
      ...[spread(runs, 1), figure(cpuMs, 1)],
    ]);
    return {
      lists: { head: ['filter', 'ms', 'ratio', 'CPU ms'], rows: firstPages(pages) },
      pages: { head: ['tasks', 'filter', 'offset', 'ms', 'CPU ms'], rows },
      searches: { head: ['tasks', 'words', 'ms', 'longest'], rows: searched },
    };
  },
};

/** Returns the first page and the last full one of each list of a board. */
async function pagesOf(board: ListBoard): Promise<Page[]> {
  const ofFilters = (Object.keys(listFilters) as ListFilter[]).map(async (filter) => {
    const { total } = paginationOf(await read({ board, filter, offset: 0 }));
    return [0, total - pageSize].map((offset) => ({ board, filter, offset, runs: [], cpuMs: 0 }));
  });
  return (await Promise.all(ofFilters)).flat();
}

async function read({ board, filter, offset }: Pick<Page, 'board' | 'filter' | 'offset'>) {
  const query = [`limit=${pageSize}&offset=${offset}`, listFilters[filter]].filter(Boolean).join('&');
  const answer = await createApi(board.token).listTasks({ query });
  successOf(answer);
  return answer;
}

/**
 * Reads every page by the handler of `listTasks`, run after run, so that a machine that slows down slows all. The first run is
 * a warm-up and does not count.
 */
async function readPages({ say, quick: isQuick }: Bench, pages: readonly Page[]): Promise<void> {
  const { runs, firstPage, deepest } = isQuick ? quick : whole;
  for (let run = 0; run <= runs; run++) {
    for (const page of pages) {
      const reads = page.offset === 0 ? firstPage : deepest;
      const before = process.cpuUsage();
      const times: number[] = [];
      for (let nth = 0; nth < reads; nth++) {
        const startedAt = performance.now();
        await read(page);
        times.push(performance.now() - startedAt);
      }
      if (run === 0) continue;
      const { user, system } = process.cpuUsage(before);
      page.cpuMs += (user + system) / 1000 / reads / runs;
      page.runs.push(percentile(times, 0.5));
    }
    say(run === 0 ? 'warmed up' : `run ${run} of ${runs}`);
  }
}

/** Searches every board by the handler of `searchTasks`. Returns the median of the first pages, and the longest of all runs but the first. */
async function measureSearches({ quick: isQuick }: Bench, boards: readonly ListBoard[]): Promise<string[][]> {
  const { runs, firstPage } = isQuick ? quick : whole;
  const rows: string[][] = [];
  for (const { count, token } of boards)
    for (const [words, q] of Object.entries(searches)) {
      const times: number[] = [];
      for (let nth = 0; nth <= runs * firstPage; nth++) {
        const startedAt = performance.now();
        successOf(await createApi(token).searchTasks({ query: `q=${q}&limit=${pageSize}` }));
        if (nth > 0) times.push(performance.now() - startedAt);
      }
      rows.push([figure(count), words, figure(percentile(times, 0.5), 1), figure(Math.max(...times), 1)]);
    }
  return rows;
}

/** Returns for each filter what the first page takes on the smallest and on the largest board. */
function firstPages(pages: readonly Page[]): string[][] {
  return Object.keys(listFilters).map((filter) => {
    const ofFilter = pages.filter((page) => page.filter === filter && page.offset === 0);
    const [small, large] = [ofFilter[0], ofFilter.at(-1)] as [Page, Page];
    const [from, to] = [small, large].map(({ runs }) => percentile(runs, 0.5)) as [number, number];
    return [
      filter,
      `${figure(from, 1)} → ${figure(to, 1)}`,
      `${figure(to / from, 2)} (${metOrNot(to / from <= timeRatio)})`,
      `${figure(small.cpuMs, 1)} → ${figure(large.cpuMs, 1)} (${metOrNot(isCheap(small, large))})`,
    ];
  });
}

const isCheap = (small: Page, large: Page) => small.cpuMs <= mostCpuMs.smallest && large.cpuMs <= mostCpuMs.largest;

const metOrNot = (isMet: boolean) => (isMet ? 'met' : 'not met');
