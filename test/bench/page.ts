import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A table of the page: its head, and rows of as many fields. */
export type Table = { head: readonly string[]; rows: readonly (readonly string[])[] };

export const header =
  '<!-- Written by `npm run bench` from test/bench/page.md; run it again instead of editing this page. -->';

export const pageText = readFileSync(join(import.meta.dirname, 'page.md'), 'utf8');

/** Returns the page as Markdown: its text with the tables and numbers. */
export function pageOf(parts: Readonly<Record<string, string | number>>): string {
  return `${header}\n\n${pageText.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parts[name]))}`;
}

export function tableOf({ head, rows }: Table): string {
  const line = (fields: readonly string[]) => `| ${fields.map((field) => field.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
