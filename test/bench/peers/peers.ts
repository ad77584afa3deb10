import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, createEnd, type Part } from '../bench.ts';
import { figure } from '../page/figures.ts';
import type { Table } from '../page/page.ts';
import { callers, compare, fewCallers, quick, type Size, whole } from './comparison.ts';
import { deliveries } from './deliveries.ts';
import { programFolders } from './programs.ts';
import { records } from './records.ts';
import { steps } from './steps.ts';
import { tools } from './tools.ts';

/** The section of the page, with places for its tables and numbers. */
export const sectionText = readFileSync(join(import.meta.dirname, 'page.md'), 'utf8').trim();

type Measure = (bench: Bench, size: Size, folders: readonly string[]) => Promise<Table>;

/** The comparisons by the names of their tables on the page. */
const comparisons: Readonly<Record<string, Measure>> = {
  deliveries: async (bench, size, folders) => compare(bench, await deliveries(bench, size), size, folders),
  executions: async (bench, size, folders) => compare(bench, await steps(bench, size), size, folders),
  records: (bench, size, folders) => compare(bench, records(bench, size), size, folders),
  tools: (bench, size, folders) => compare(bench, tools(bench, size), size, folders),
};

/** This service beside installed services of other authors. */
export const peers: Part = {
  name: 'peers',
  numbers: {
    ...{ callers, fewCallers, runs: whole.runs, seconds: whole.seconds, burstEvents: figure(whole.burstEvents) },
    ...{ executionCount: figure(whole.executions), requests: whole.requests, calls: figure(whole.calls) },
  },
  async measure(bench) {
    const folders = programFolders(process.env.PATH ?? '');
    const tables: Record<string, Table> = {};
    for (const [name, measure] of Object.entries(comparisons)) {
      // Nothing of a comparison runs during the next one.
      const { atEnd, stop } = createEnd();
      bench.atEnd(stop);
      tables[name] = await measure({ ...bench, atEnd }, bench.quick ? quick : whole, folders);
      await stop();
    }
    return tables;
  },
};
