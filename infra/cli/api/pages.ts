import { columns } from '../columns.ts';
import { printJson } from '../json.ts';
import { multipleLines, singleLine } from '../printable.ts';

/** The options of a list: its highest number of items, or all items. */
export type PageOptions = { limit?: number | undefined; all?: true | undefined };

/** A list, or one page of it. */
export type ListPage<Item> = { data: Item[]; pagination: { limit: number; offset: number; total: number } };

/**
 * Reads the first page of a list, or the whole list.
 *
 * @param first reads the first page with this limit
 * @param every yields the items of all pages
 */
export async function requestPage<Item>(
  { limit, all }: PageOptions,
  first: (limit: number | undefined) => Promise<ListPage<Item>>,
  every: () => AsyncIterable<Item>,
): Promise<ListPage<Item>> {
  if (!all) {
    const { data, pagination } = await first(limit);
    return { data, pagination };
  }
  const data: Item[] = [];
  for await (const item of every()) data.push(item);
  return { data, pagination: { limit: data.length, offset: 0, total: data.length } };
}

/** A list without a total, or its first part; `next` is where it continues, `null` at its end. */
export type CursorPage<Item> = { data: Item[]; pagination: { limit: number; next: string | null } };

/** The maximum length of a page of the API, and the default length. */
const [longestPage, defaultPage] = [100, 20];

/**
 * Reads the newest items of a list without a total, or the whole list. It reads on after a page with fewer items than its limit,
 * which can have more behind it.
 *
 * @param read reads a page
 */
export async function readByCursor<Item>(
  { limit, all }: PageOptions,
  read: (query: { limit: number; before?: string }) => Promise<CursorPage<Item>>,
): Promise<CursorPage<Item>> {
  const wanted = all ? Number.POSITIVE_INFINITY : (limit ?? defaultPage);
  const data: Item[] = [];
  let next: string | null | undefined;
  do {
    const page = await read({ limit: Math.min(wanted - data.length, longestPage), ...(next && { before: next }) });
    data.push(...page.data);
    next = page.pagination.next;
  } while (next !== null && data.length < wanted);
  return { data, pagination: { limit: data.length, next } };
}

/** What a table shows of an item: a heading and the text of each column, and the column that is shortened to fit. */
export type Shape<Item> = { columns: Record<string, (item: Item) => string | undefined>; flexible: string };

/** Prints rows below each other with a line about them: as JSON, or as a table. */
export function printTable<Item>(
  data: unknown,
  items: readonly Item[],
  shape: Shape<Item>,
  summary: string,
  { json }: { json?: true | undefined },
): void {
  if (json) printJson({ data });
  else console.log([...(items.length > 0 ? [table(items, shape)] : []), summary].join('\n'));
}

/** Prints a list that is not paged: as JSON, or as a table with a count. */
export function printList<Item>(
  data: Item[],
  noun: string,
  shape: Shape<Item>,
  options: { json?: true | undefined },
): void {
  printTable(data, data, shape, `${countText(data.length, data.length, noun)}.`, options);
}

/** Prints a list: as JSON, or as a table with a count, such as `3 of 12 tasks`. */
export function printPage<Item>(
  page: ListPage<Item>,
  noun: string,
  shape: Shape<Item>,
  { json }: { json?: true },
): void {
  if (json) printJson(page);
  else console.log(listText(page, noun, table(page.data, shape)));
}

/**
 * Prints a list of texts: as JSON, or each text in full below its heading, with a count.
 *
 * @param headingOf returns the fields of the line above a text. The text itself is indented, so that no line of it is taken for one
 */
export function printTexts<Item extends { text: string }>(
  page: ListPage<Item>,
  noun: string,
  headingOf: (item: Item) => readonly string[],
  { json }: { json?: true },
): void {
  const shown = ({ text }: Item) => multipleLines(text).trim().replaceAll('\n', '\n  ');
  const texts = page.data.map((item) => `${headingOf(item).map(singleLine).join('  ')}\n  ${shown(item)}\n`);
  if (json) printJson(page);
  else console.log(listText(page, noun, texts.join('\n')));
}

/** Prints a list without a total in the same way as `printPage`. */
export function printCursorPage<Item>(
  page: CursorPage<Item>,
  noun: string,
  shape: Shape<Item>,
  { json }: { json?: true },
): void {
  if (json) printJson(page);
  else console.log(cursorText(page, noun, shape));
}

function cursorText<Item>({ data, pagination: { next } }: CursorPage<Item>, noun: string, shape: Shape<Item>): string {
  const hint = next === null ? '' : ' There are more: --all lists all of them.';
  const count = `${countText(data.length, data.length, noun)}.${hint}`;
  return data.length > 0 ? `${table(data, shape)}\n${count}` : count;
}

function listText<Item>({ data, pagination: { total } }: ListPage<Item>, noun: string, shown: string): string {
  const hint = data.length < total ? ' --all lists all of them.' : '';
  const count = `${countText(data.length, total, noun)}.${hint}`;
  return data.length > 0 ? `${shown}\n${count}` : count;
}

function table<Item>(items: readonly Item[], { columns: shown, flexible }: Shape<Item>): string {
  const headings = Object.keys(shown);
  const rows = items.map((item) => headings.map((heading) => singleLine(shown[heading]?.(item) ?? '')));
  return columns([headings, ...rows], { width: terminalWidth(), flexible: headings.indexOf(flexible) });
}

function countText(count: number, total: number, noun: string): string {
  const counted = `${total.toLocaleString('en')} ${total === 1 ? noun : pluralOf(noun)}`;
  return count < total ? `${count.toLocaleString('en')} of ${counted}` : counted;
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return noun.endsWith('s') ? `${noun}es` : `${noun}s`;
}

/** Returns the width of the terminal; `undefined` if the output is not a terminal, or one of unknown width. */
function terminalWidth(): number | undefined {
  return (process.stdout.isTTY && process.stdout.columns) || undefined;
}
