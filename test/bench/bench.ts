import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Table } from './page/page.ts';

/** The options of a part of the benchmark, and its progress and end. */
export type Bench = {
  /** Seconds instead of minutes: the figures say little, but all deliveries must still arrive. */
  quick: boolean;
  /** The folder of another checkout, whose goals are measured beside the goals of this one. */
  beside?: string;
  say: (line: string) => void;
  /** Registers a function that is called when the benchmark ends, in reverse order. */
  atEnd: (stop: () => unknown) => void;
};

/** A part of the benchmark that can be run alone by its name. */
export type Part = {
  name: string;
  /** The numbers in the text of the page, by their names there. */
  numbers: Record<string, string | number>;
  /** Measures the tables of the page, by their names there. */
  measure: (bench: Bench) => Promise<Record<string, Table>>;
};

/** Creates a folder that is removed when the benchmark ends. */
export function createFolder({ atEnd }: Pick<Bench, 'atEnd'>, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'crewboard-bench-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Creates an `atEnd`, and a function that calls what it registered, in reverse order and once. */
export function createEnd(): Pick<Bench, 'atEnd'> & { stop: () => Promise<void> } {
  const stops: (() => unknown)[] = [];
  const stopAll = async () => {
    for (const one of stops.reverse()) await one();
  };
  let stopped: Promise<void> | undefined;
  return {
    atEnd: (one) => stops.push(one),
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
}
