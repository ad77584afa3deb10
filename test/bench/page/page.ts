import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A table of the page: its head, and rows of as many fields. */
export type Table = { head: readonly string[]; rows: readonly (readonly string[])[] };

export const header =
  '<!-- Written by `npm run bench` from test/bench/page/page.md; run it again instead of editing this page. -->';

export const pageText = readFileSync(join(import.meta.dirname, 'page.md'), 'utf8');

/** Tables and numbers by their names in a text. */
export type Contents = Readonly<Record<string, string | number>>;

/** Returns the page as Markdown: its text with the tables and numbers. */
export function pageOf(contents: Contents): string {
  return `${header}\n\n${fillIn(pageText, contents)}`;
}

/** Returns a text with the contents at their names in braces. */
export function fillIn(text: string, contents: Contents): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(contents[name]));
}

/** Returns the section of a page that has the heading of another text, up to the next heading of its level. */
export function sectionOf(page: string, text: string): string {
  const [before = '', ...rest] = page.split(`${headingOf(text)}\n`);
  if (before === '' || rest.length !== 1) throw new Error(`The page does not have one section ${headingOf(text)}.`);
  const section = rest[0] as string;
  const end = section.search(/^## /m);
  return `${headingOf(text)}\n${end === -1 ? section : section.slice(0, end)}`.trimEnd();
}

const headingOf = (text: string) => text.slice(0, text.indexOf('\n'));

export function tableOf({ head, rows }: Table): string {
  const line = (fields: readonly string[]) => `| ${fields.map((field) => field.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
