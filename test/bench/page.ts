import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A table of the page: its head, and rows of as many fields. */
type Table = { head: readonly string[]; rows: readonly (readonly string[])[] };

/** A section of the page: its paragraphs (what was measured, what it means and how to repeat it), and its table. */
export type Section = { title: string; text: readonly string[]; table: Table };

/** The machine, the versions and the time of the measurements, as names and values. */
export type Circumstances = Readonly<Record<string, string>>;

/** The first line of the page. */
export const header =
  '<!-- Written by `npm run bench`; run it again instead of editing this page. Its end is test/bench/findings.md. -->';

/** The end of the page: findings of profiles and measurements, as Markdown. */
export const findings = readFileSync(join(import.meta.dirname, 'findings.md'), 'utf8');

/** Returns the page as Markdown: the circumstances, the sections and the findings. */
export function pageOf(circumstances: Circumstances, sections: readonly Section[]): string {
  const seen = { head: ['Where and when', ''], rows: Object.entries(circumstances) };
  const introduction = `${header}

# Benchmarks

Measurements of this service on one machine by \`npm run bench\` (about fifteen minutes, Linux). The service, its table engine,
the receiver and the load generator ran on that machine. Figures depend on the machine and its other work: compare only runs
of one machine, one after the other. \`npm run bench -- --quick\` runs everything for a few seconds, checks that all
deliveries arrive, and writes no page.`;
  return [introduction, tableOf(seen), ...sections.map(sectionOf), findings].join('\n\n');
}

/** Returns a section as Markdown. */
export function sectionOf({ title, text, table }: Section): string {
  return [`## ${title}`, ...text, tableOf(table)].join('\n\n');
}

function tableOf({ head, rows }: Table): string {
  const line = (fields: readonly string[]) => `| ${fields.map((field) => field.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
