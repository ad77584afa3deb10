import type { Section } from './page.ts';

/** What a part of the benchmark is given. */
export type Bench = {
  /** Seconds instead of minutes: the figures say little then, but all that is sent must arrive all the same. */
  quick: boolean;
  /** The folder of another checkout, whose goals are measured beside those of this one. */
  beside?: string;
  /** Shows progress. */
  say: (line: string) => void;
  /** Has something stopped when the benchmark ends, however it ends; the newest first. */
  atEnd: (stop: () => unknown) => void;
};

/** A part of the benchmark that can be run alone by its name. */
export type Part = { name: string; measure: (bench: Bench) => Promise<Section[]> };
