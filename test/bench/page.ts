import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plot } from './plot.ts';

/** A table of the page: its head, and rows of as many facets. */
type Table = { head: readonly string[]; rows: readonly (readonly string[])[] };

/**
 * A part of the page: what was measured, what it means and how to repeat it, paragraph by paragraph, and the figures;
 * drawn as well, where a picture says more.
 */
export type Section = { title: string; text: readonly string[]; table: Table; plot?: Plot };

/** The folder of the page's pictures, beside it. */
export const plotFolder = 'benchmarks';

/** Where the figures were seen, as names and values. */
export type Circumstances = Readonly<Record<string, string>>;

/** Every page begins so. */
export const header =
  '<!-- Written by `npm run bench`; run it again instead of editing this page. Its end is test/bench/findings.md. -->';

/** What was found behind the figures, in words: the end of the page, as Markdown. */
export const findings = readFileSync(join(import.meta.dirname, 'findings.md'), 'utf8');

/** The page of all figures and what was found behind them, as Markdown. */
export function pageOf(circumstances: Circumstances, sections: readonly Section[]): string {
  const seen = { head: ['Where and when', ''], rows: Object.entries(circumstances) };
  const introduction = `${header}

# Benchmarks

What this service did on one machine, as seen by \`npm run bench\` (about fifteen minutes, Linux). Everything ran on that
machine: the service, its table engine, the receiver and what sends the load. Figures of another machine, or of this one
when it has other work, are others: compare runs of one machine, one after the other.
\`npm run bench -- --quick\` runs all of it for a few seconds, checks that everything arrives and writes no page.`;
  return [introduction, tableOf(seen), ...sections.map(sectionOf), findings].join('\n\n');
}

/** A section as Markdown. */
export function sectionOf({ title, text, table, plot }: Section): string {
  const picture = plot ? [`![${plot.alt}](${plotFolder}/${plot.name}.svg)`] : [];
  return [`## ${title}`, ...text, ...picture, tableOf(table)].join('\n\n');
}

function tableOf({ head, rows }: Table): string {
  const line = (facets: readonly string[]) => `| ${facets.map((facet) => facet.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
