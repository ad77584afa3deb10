import type { Bench } from '../bench.ts';
import { figure, spread } from './figures.ts';
import type { Table } from './page.ts';

/** A figure of a table: its name, its decimals, and its goal. */
export type Figure = { name: string; decimals: number; atMost?: number; atLeast?: number };

/** Measured figures by their names in the code. */
export type Measured = Readonly<Record<string, number>>;

/** A column of a table: its head, what is measured, and the figures of all runs so far. */
export type Column<Subject> = { name: string; subject: Subject; seen: Measured[] };

/** The figures of a table by their names in the code, and functions that measure some of them each. */
export type Measurements<Subject> = {
  figures: Readonly<Record<string, Figure>>;
  measurements: readonly ((subject: Subject) => Promise<Measured>)[];
};

/** Takes all measurements of each column in turns, run after run, so that a machine that slows down slows all. */
export async function measureInTurns<Subject>(
  { say }: Bench,
  { figures, measurements }: Measurements<Subject>,
  columns: readonly Column<Subject>[],
  runs: number,
): Promise<void> {
  for (let run = 1; run <= runs; run++)
    // Each column goes first in turn.
    for (const [nth, measure] of measurements.entries())
      for (const { name, subject, seen } of run % 2 === 1 ? columns : columns.toReversed()) {
        const measured = await measure(subject);
        seen.push(measured);
        const words = Object.entries(measured).map(([one, value]) => `${one} ${figure(value, figures[one]?.decimals)}`);
        say(`${name}, run ${run} of ${runs}, ${nth + 1} of ${measurements.length}: ${words.join(', ')}`);
      }
}

/** Returns a row for each figure: its name, its goal if any figure has one, and its runs in each column. */
export function tableOfFigures(
  { figures }: Pick<Measurements<unknown>, 'figures'>,
  columns: readonly Pick<Column<unknown>, 'name' | 'seen'>[],
): Table {
  const hasGoals = Object.values(figures).some((shown) => goalOf(shown) !== '');
  const goal = (text: string) => (hasGoals ? [text] : []);
  const rows = Object.entries(figures).map(([one, shown]) => {
    const seen = columns.map((column) => column.seen.flatMap((run) => run[one] ?? []));
    const cells = seen.map((values) => (values.length > 0 ? spread(values, shown.decimals) : ''));
    return [shown.name, ...goal(goalOf(shown)), ...cells];
  });
  return { head: ['Figure', ...goal('goal'), ...columns.map(({ name }) => name)], rows };
}

function goalOf({ decimals, atMost, atLeast }: Figure): string {
  if (atMost !== undefined) return `≤ ${figure(atMost, decimals)}`;
  return atLeast === undefined ? '' : `≥ ${figure(atLeast, decimals)}`;
}
